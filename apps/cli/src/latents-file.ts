import { SafeTensors, SafeTensorsError, writeSafeTensors } from '@pocket/safetensors'
import { InputError } from './errors.ts'

/** What a codec makes of a recording. */
export interface Latents {
  /** `[frames, latentDim]` row-major, de-normalised. */
  readonly data: Float32Array
  readonly latentDim: number
  /** The model whose codec made them; undefined where the file does not say. */
  readonly model: string | undefined
  /** Frames a second. */
  readonly frameRate: number | undefined
  /** Samples of the recording at 24 kHz: the last frame may be longer. Undefined where the file does not say. */
  readonly samples: number | undefined
}

const tensorName = 'latents'
const keys = { model: 'pocket.model', frameRate: 'pocket.frame_rate', samples: 'pocket.samples' } as const

/** A safetensors file: the tensor `latents`, F32 `[frames, latentDim]`, and the rest in the metadata. */
export const writeLatents = ({ data, latentDim, ...about }: Required<Latents>): Uint8Array => {
  const metadata: Record<string, string> = {}
  for (const [name, key] of Object.entries(keys)) metadata[key] = String(about[name as keyof typeof keys])
  const shape = [data.length / latentDim, latentDim]
  return writeSafeTensors({ [tensorName]: { dtype: 'F32', shape, data } }, metadata)
}

/** Reads such a file; latents of another float dtype are widened. Throws InputError, which `label` leads. */
export const readLatents = (bytes: Uint8Array, label: string): Latents => {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new InputError(`${label}: ${problem}`, { cause })
  }
  try {
    const file = SafeTensors.fromBytes(bytes)
    if (!file.has(tensorName)) {
      refuse(`it has no tensor '${tensorName}'; make the file with pocket encode`)
    }
    const { data, shape } = file.f32(tensorName)
    const [frames = 0, latentDim = 0] = shape
    if (shape.length !== 2 || frames === 0 || latentDim === 0) {
      refuse(`${tensorName} is [${shape.join(', ')}], expected [frames, values of a latent]`)
    }
    if (!data.every(Number.isFinite)) refuse(`${tensorName} holds NaN or infinity`)
    const { [keys.model]: model, [keys.frameRate]: frameRate, [keys.samples]: samples } = file.metadata
    return { data, latentDim, model, frameRate: toNumber(frameRate), samples: toNumber(samples) }
  } catch (error) {
    if (error instanceof SafeTensorsError) return refuse(error.message, error)
    throw error
  }
}

/** What is no number becomes NaN, which agrees with no codec. */
const toNumber = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)
