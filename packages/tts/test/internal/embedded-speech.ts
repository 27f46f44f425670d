import { FlowLm } from '@pocket/flowlm'
import { type CpuKernels, createCpuKernels, type SimdLevel } from '@pocket/kernels-cpu'
import { MimiCodec } from '@pocket/mimi'
import { mini } from '@pocket/mini'
import { openFile } from '@pocket/safetensors/node'
import { type NoiseSource, PocketTts, referenceNoise, type UtteranceChunk, type Voice } from '@pocket/tts'
import { type DriveContext, driveUtterance } from '../../src/generate/driver.ts'
import type { FrameSource } from '../../src/generate/frame-source.ts'
import type { PlannedChunk } from '../../src/generate/plan-text.ts'
import { scaledNoise } from '../../src/noise/scaled-noise.ts'
import type { Pace } from '../../src/sources/run-ahead.ts'
import { fastest } from '../support/levels.ts'

export interface Model {
  readonly kernels: CpuKernels
  readonly flowLm: FlowLm
  readonly codec: MimiCodec
}

/** The embedded model's networks on an executor of the CPU. */
export const loadNetworks = async (simd: SimdLevel): Promise<Model> => {
  const weights = await openFile(mini.model)
  try {
    const kernels = await createCpuKernels({ simd })
    return {
      kernels,
      flowLm: await FlowLm.load(weights, kernels),
      codec: await MimiCodec.load(weights, kernels),
    }
  } finally {
    await weights.close()
  }
}

export const every = (framesPerSubmit: number, inFlight: number): Pace => ({
  framesPerSubmit: [framesPerSubmit],
  inFlight,
})

/** A voice of the embedded model, and three chunks that it says. */
export const planWords = async (): Promise<{ voice: Voice; chunks: PlannedChunk[] }> => {
  const tts = await PocketTts.load(mini, { simd: fastest })
  const voice = await tts.loadVoice('rms')
  const chunks = ['Yes.', 'Good morning.', 'It is late.'].map((text) => ({
    text,
    ids: Uint32Array.from(tts.tokenizer.encode(text)),
    framesAfterEos: 2,
    maxFrames: 40,
    span: { start: 0, end: text.length },
  }))
  tts.dispose()
  return { voice, chunks }
}

export interface Spoken {
  readonly pcm: Float32Array
  readonly frames: number
  readonly chunks: UtteranceChunk[]
}

export interface Speech {
  readonly voice: Voice
  readonly noise?: NoiseSource
  readonly signal?: AbortSignal
  readonly lsdSteps?: number
  readonly noiseOfChunk?: (index: number) => NoiseSource
  readonly aside?: DriveContext['aside']
  readonly onFrame?: (index: number) => void
}

/** What the driver makes of chunks on a source of the embedded model. */
export const speakChunks = async (
  source: FrameSource,
  what: readonly PlannedChunk[],
  { voice, signal, onFrame, aside, noiseOfChunk, ...speech }: Speech,
): Promise<Spoken> => {
  const done: UtteranceChunk[] = []
  const samples: number[] = []
  let frames = 0
  const { noise = scaledNoise(referenceNoise(11), 0.5), lsdSteps = 1 } = speech
  for await (const frame of driveUtterance([...what], {
    source,
    voice,
    settings: {
      noise,
      noiseOfChunk,
      lsdSteps,
      eosThreshold: -4,
      onProgress: undefined,
      onWarning: undefined,
    },
    latentDim: 32,
    sampleRate: 24000,
    signal: signal ?? new AbortController().signal,
    chunkCount: what.length,
    aside,
    onChunk: (chunk) => done.push(chunk),
  })) {
    samples.push(...frame.pcm)
    if (frame.pcm.length > 0) frames++
    onFrame?.(frame.index)
  }
  return { pcm: Float32Array.from(samples), frames, chunks: done }
}

/** As a list of bits; a matcher would report every one of the samples. */
export const sameBits = (a: Float32Array, b: Float32Array): boolean =>
  Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength))
