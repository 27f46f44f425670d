import type { FlowLm } from '@pocket/flowlm'
import type { MimiCodec } from '@pocket/mimi'
import { decodeWav } from '../audio/decode-wav.ts'
import { PocketTtsError } from '../errors.ts'
import type { PocketConfig } from '../model/config.ts'
import { hear } from './hear.ts'
import type { Voice } from './voice.ts'

export interface CloneOptions {
  /** The voice's name. */
  readonly name?: string | undefined
  /** Seconds of the recording to use, from its beginning. Default 30, as in the reference; more helps no further. */
  readonly maxSeconds?: number | undefined
  /** Stops the work; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

interface Model {
  readonly codec: MimiCodec
  readonly flowLm: FlowLm
  readonly config: PocketConfig
}

interface Limits {
  readonly signal: AbortSignal
  readonly maxPositions: number
}

/** The reference truncates prompts to this when it exports them; much longer ones come out as noise. */
const usualMaxSeconds = 30

/** Encodes a recording, projects it into the language model and lets the model hear it. */
export const cloneVoice = async (
  { codec, flowLm, config }: Model,
  audio: Float32Array | Uint8Array,
  options: CloneOptions,
  { signal, maxPositions }: Limits,
): Promise<Voice> => {
  const { name, maxSeconds = usualMaxSeconds } = options
  if (!(maxSeconds > 0)) {
    throw new PocketTtsError('invalid-option', `maxSeconds is ${maxSeconds}; it must be a number above 0`)
  }
  const { sampleRate, frameSize, innerDim } = codec.config
  const samples = readSamples(audio).subarray(0, Math.ceil(maxSeconds * sampleRate))
  const frames = Math.ceil(samples.length / frameSize)
  if (frames + 1 > maxPositions) {
    throw new PocketTtsError(
      'too-long',
      `${frames} frames of recording and there are ${maxPositions} positions; lower maxSeconds, or raise ` +
        'maxPositions in load()',
    )
  }
  const latents = await codec.encode(samples, { signal })
  signal.throwIfAborted()
  const prompt = await flowLm.voicePrompt(latents.data, latents.data.length / innerDim)
  const kv = await hear(flowLm, prompt.data, prompt.shape[0] ?? 0, signal)
  return { kv, modelId: config.modelId, ...(name === undefined ? {} : { name }) }
}

/** Why this model cannot clone, and what to do about it. */
export const refuseCloning = ({ codec, config }: Model): PocketTtsError =>
  new PocketTtsError(
    'unsupported',
    codec.canEncode
      ? `the model ${config.modelId} has no speaker_proj_weight and cannot clone voices; use its own voices`
      : `the weights of ${config.modelId} come without voice cloning; the full weights are granted at ` +
          'https://huggingface.co/kyutai/pocket-tts',
  )

const readSamples = (audio: Float32Array | Uint8Array): Float32Array => {
  const samples = audio instanceof Uint8Array ? decodeWav(audio) : audio
  if (!(samples instanceof Float32Array)) {
    throw new PocketTtsError(
      'invalid-audio',
      `the audio is ${typeof samples}; it must be a Float32Array of 24 kHz mono samples, or the bytes of a WAV file`,
    )
  }
  if (samples.length === 0) throw new PocketTtsError('invalid-audio', 'the audio is empty')
  const bad = samples.findIndex((sample) => !Number.isFinite(sample))
  if (bad < 0) return samples
  throw new PocketTtsError('invalid-audio', `sample ${bad} of the audio is ${samples[bad]}`)
}
