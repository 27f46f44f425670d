import { readFile } from 'node:fs/promises'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { MimiCodec } from '@pocket/mimi'
import { mini } from '@pocket/mini'
import { SafeTensors } from '@pocket/safetensors'

const weights = SafeTensors.fromBytes(await readFile(mini.model))
const codec = await MimiCodec.load(weights, await createCpuKernels())
const encoder = codec.createEncoder()
const decoder = codec.createDecoder()

// What an AudioWorklet hands over: 128 samples at a time, here of a tone that rises.
function* microphone(seconds: number): Generator<Float32Array> {
  for (let start = 0; start < 24000 * seconds; start += 128) {
    yield Float32Array.from({ length: 128 }, (_, i) => 0.3 * Math.sin(0.03 * (start + i) ** 1.1))
  }
}

let played = 0
const play = async (latents: Float32Array): Promise<void> => {
  const pcm = await decoder.decode(latents)
  played += pcm.length
}

for (const samples of microphone(1)) {
  // Most calls complete no frame; every fifteenth gives one, 80 ms of sound.
  const { data } = await encoder.encode(samples)
  await play(data)
}
await play((await encoder.flush()).data)
console.log(`${played / 1920} frames of 80 ms went through`)
