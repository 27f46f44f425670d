// What a typed program does with the packages: compiled by the strictest settings, never run.
import { createCpuKernels } from '@pocket/kernels-cpu'
import { createGpuKernels, type GpuAdapter, type GpuDevice, type GpuKernels } from '@pocket/kernels-wgsl'
import { MimiCodec } from '@pocket/mimi'
import { type MiniVoice, mini } from '@pocket/mini'
import { openBlob, SafeTensors, SafeTensorsError, type SafeTensorsErrorCode } from '@pocket/safetensors'
import { SentencePieceUnigram } from '@pocket/sentencepiece'
import { type GenerateOptions, PocketTts, type Utterance, type Voice } from '@pocket/tts'

export const speak = async (text: string, signal?: AbortSignal): Promise<Utterance> => {
  const tts: PocketTts = await PocketTts.load(mini)
  const name: MiniVoice = 'rms'
  const voice: Voice = await tts.loadVoice(name)
  const options: GenerateOptions = { voice, seed: 1n, ...(signal ? { signal } : {}) }
  for await (const { pcm, isLast } of tts.stream(text, options)) {
    const samples: Float32Array = pcm
    if (isLast) console.log(samples.length)
  }
  return tts.speak(text, options)
}

export const encode = async (weights: Blob, samples: Float32Array): Promise<number[]> => {
  const codec = await MimiCodec.load(await openBlob(weights), await createCpuKernels({ simd: 'auto' }))
  const { data, shape } = await codec.encode(samples)
  const sum: number = data.reduce((total, value) => total + value, 0)
  return [...shape, sum]
}

export const device = async (adapter: GpuAdapter): Promise<GpuDevice> => {
  const kernels: GpuKernels = await createGpuKernels({ adapter, lanes: 2 })
  return kernels.device
}

export const names = (bytes: Uint8Array): string[] | SafeTensorsErrorCode => {
  try {
    return SafeTensors.fromBytes(bytes).names()
  } catch (error) {
    if (error instanceof SafeTensorsError) return error.code
    throw error
  }
}

export const tokens = (model: Uint8Array): number[] => SentencePieceUnigram.fromBytes(model).encode('Hello.')
