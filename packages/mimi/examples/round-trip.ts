import { readFile } from 'node:fs/promises'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { MimiCodec } from '@pocket/mimi'
import { mini } from '@pocket/mini'
import { SafeTensors } from '@pocket/safetensors'

const weights = SafeTensors.fromBytes(await readFile(mini.model))
const codec = await MimiCodec.load(weights, await createCpuKernels())
const { sampleRate, latentDim } = codec.config

// A second of a buzz at 110 Hz; any mono samples at 24 kHz will do.
const harmonics = Array.from({ length: 20 }, (_, i) => i + 1)
const sound = Float32Array.from({ length: sampleRate }, (_, n) =>
  harmonics.reduce((sum, h) => sum + (0.1 / h) * Math.sin((2 * Math.PI * 110 * h * n) / sampleRate), 0),
)

const latents = await codec.encode(sound)
const pcm = await codec.createDecoder().decode(latents.data)

console.log(`${sound.length} samples -> ${latents.shape.join(' x ')} latents -> ${pcm.length} samples`)
console.log(`${latentDim * codec.config.frameRate} numbers a second in place of ${sampleRate}`)
