/**
 * Loses the GPU of this machine while a model of full size speaks, alone and eight at a time, and says how long that is
 * heard and whether anything else is. `node bench/loss.ts TOKENIZER`; where there is no network, bundle it first.
 */
import process from 'node:process'
import { PocketTts } from '@pocket/tts'
import { fullWeights, writeTensorFile } from '@tooling/fixtures'
import { create } from 'webgpu'
import { noisyVoice } from './full-size.ts'

const [tokenizer] = process.argv.slice(2)
if (!tokenizer) throw new Error('usage: loss.ts TOKENIZER')

/** Every device that is opened, to be lost. */
const devices: GPUDevice[] = []
const dawn = create([])
Object.defineProperty(navigator, 'gpu', {
  value: {
    requestAdapter: async (options: GPURequestAdapterOptions) => {
      const adapter = await dawn.requestAdapter(options)
      if (!adapter) return null
      const requestDevice = adapter.requestDevice.bind(adapter)
      adapter.requestDevice = async (descriptor) => {
        const device = await requestDevice(descriptor)
        devices.push(device)
        return device
      }
      return adapter
    },
  },
})

const text = 'A sentence of an ordinary length, as people speak them every day of the week.'
const model = writeTensorFile([...fullWeights()])

for (const lanes of [1, 8]) {
  const tts = await PocketTts.load({ model, tokenizer }, { backend: 'gpu', lanes })
  const voice = noisyVoice(tts.flowLm.config)
  const speak = async (seed: number, onFrame = (_: number): void => {}): Promise<Buffer> => {
    const pieces: Float32Array[] = []
    for await (const { pcm, index } of tts.stream(text, { voice, seed, eosThreshold: 1e9 })) {
      pieces.push(pcm)
      onFrame(index)
    }
    return Buffer.concat(
      pieces.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
    )
  }
  const seeds = Array.from({ length: 8 }, (_, seed) => seed)
  const expected = await Promise.all(seeds.map((seed) => speak(seed)))
  let last = performance.now()
  let longest = 0
  const watch = (index: number): void => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (index === 40) devices.at(-1)?.destroy()
  }
  const opened = devices.length
  const found = await Promise.all(seeds.map((seed) => speak(seed, seed === 0 ? watch : undefined)))
  const same = found.filter((samples, index) => expected[index]?.equals(samples)).length
  process.stdout.write(
    `${lanes} lanes: lost at frame 40, ${devices.length - opened} device opened again, heard as a pause of ` +
      `${(longest / 1000).toFixed(1)} s; ${same} of ${seeds.length} utterances the same to the bit\n`,
  )
  const before = performance.now()
  devices.at(-1)?.destroy()
  const next = await speak(3)
  process.stdout.write(
    `${lanes} lanes: lost between utterances, the next took ${((performance.now() - before) / 1000).toFixed(1)} s and is ` +
      `${expected[3]?.equals(next) ? 'the same to the bit' : 'another'}\n`,
  )
  tts.dispose()
}
process.exit(0)
