/**
 * How long one frame (80 ms of sound) takes to decode and to encode: `pnpm build`, then `pnpm bench`, prints the table
 * of the README.
 */
import { readFile } from 'node:fs/promises'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { MimiCodec } from '@pocket/mimi'
import { mini } from '@pocket/mini'
import { SafeTensors } from '@pocket/safetensors'
import { fixturePath, fullWeights, writeTensorFile } from '@tooling/fixtures'

const models: Record<string, () => Promise<Uint8Array>> = {
  'tiny, of the tests': () => readFile(fixturePath('tiny/tiny-2026-04/model.safetensors')),
  '`@pocket/mini`': () => readFile(mini.model),
  'full size': async () => writeTensorFile([...fullWeights()].filter(({ name }) => name.startsWith('mimi.'))),
}

/** The window of 250 positions is full after 16 frames; from there on all frames cost the same. */
const warmUpFrames = 20
const frames = 60

const medianTime = async (frame: (index: number) => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let index = 0; index < warmUpFrames + frames; index++) {
    const start = performance.now()
    await frame(index)
    if (index >= warmUpFrames) times.push(performance.now() - start)
  }
  return times.toSorted((a, b) => a - b)[frames >> 1] ?? Number.NaN
}

const decodeTime = (codec: MimiCodec): Promise<number> => {
  const decoder = codec.createDecoder()
  const latent = new Float32Array(codec.config.latentDim)
  return medianTime((index) => decoder.decode(latent.map((_, i) => Math.sin(index + i))))
}

const encodeTime = (codec: MimiCodec): Promise<number> => {
  const encoder = codec.createEncoder()
  const samples = new Float32Array(codec.config.frameSize)
  return medianTime((index) => encoder.encode(samples.map((_, i) => 0.3 * Math.sin(0.05 * i * index))))
}

console.log('| weights | level | decode, ms a frame | encode, ms a frame | decoding, times real time |')
console.log('| --- | --- | ---: | ---: | ---: |')
for (const [name, read] of Object.entries(models)) {
  const weights = SafeTensors.fromBytes(await read())
  for (const simd of ['simd', 'relaxed'] as const) {
    const kernels = await createCpuKernels({ simd, threads: 1 })
    const codec = await MimiCodec.load(weights, kernels)
    const decode = await decodeTime(codec)
    const encode = await encodeTime(codec)
    const realTime = (1000 / codec.config.frameRate / decode).toFixed(1)
    console.log(`| ${name} | ${simd} | ${decode.toFixed(2)} | ${encode.toFixed(2)} | ${realTime} |`)
    kernels.dispose()
  }
}
