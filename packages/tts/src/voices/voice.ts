import type { KvSnapshot } from '@pocket/flowlm'
import { PocketTtsError } from '../errors.ts'

/** Who speaks: what the language model has in its KV cache after hearing the speaker. */
export interface Voice {
  /** Keys have the rotary embedding applied; a voice is adopted as it is. */
  readonly kv: KvSnapshot
  readonly name?: string
  /** The model the voice was made with, where that is known. A voice means nothing to any other model. */
  readonly modelId?: string
}

/** What a voice must fit. */
export interface VoiceModel {
  readonly modelId: string
  /** See `fingerprint`. */
  readonly sha256: string
  readonly layers: number
  readonly heads: number
  readonly headDim: number
  readonly dModel: number
}

type Geometry = Pick<VoiceModel, 'layers' | 'heads' | 'headDim'>

export const describeGeometry = ({ layers, heads, headDim }: Geometry): string =>
  `${layers} layers of ${heads} heads × ${headDim}`

export const invalidVoice = (label: string, problem: string, cause?: unknown): PocketTtsError =>
  new PocketTtsError('invalid-voice', `the voice ${label}: ${problem}`, cause === undefined ? {} : { cause })

/**
 * Refuses a voice of another model, or one whose parts do not fit together. Values are not looked at.
 * Throws PocketTtsError `invalid-voice`, naming both models where names are known.
 */
export const checkVoice = (voice: Voice, model: VoiceModel): void => {
  const label = voice?.name === undefined ? 'given' : `'${voice.name}'`
  if (!isSnapshot(voice?.kv)) {
    throw invalidVoice(
      label,
      "it has no 'kv' with layers of Float32Arrays; make one with loadVoice or cloneVoice",
    )
  }
  checkModelName(label, voice.modelId, model)
  const { positions, heads, headDim, layers } = voice.kv
  const found = { layers: layers.length, heads, headDim }
  if (describeGeometry(found) !== describeGeometry(model)) {
    throw invalidVoice(
      label,
      `it holds ${describeGeometry(found)}, the model ${model.modelId} has ${describeGeometry(model)}; ` +
        'it was made with another model',
    )
  }
  const length = positions * heads * headDim
  if (layers.some(({ k, v }) => k.length !== length || v.length !== length)) {
    throw invalidVoice(label, `its layers do not all hold ${positions} positions`)
  }
}

export const checkModelName = (label: string, found: string | undefined, model: VoiceModel): void => {
  if (found === undefined || found === model.modelId) return
  throw invalidVoice(label, `it was made with the model ${found}, this model is ${model.modelId}`)
}

const isSnapshot = (kv: unknown): kv is KvSnapshot => {
  if (typeof kv !== 'object' || kv === null || !('layers' in kv) || !('positions' in kv)) return false
  const { layers, positions } = kv
  const isWhole = Number.isSafeInteger(positions) && Number(positions) >= 0
  return isWhole && Array.isArray(layers) && layers.every(isLayer)
}

const isLayer = (layer: unknown): boolean =>
  typeof layer === 'object' &&
  layer !== null &&
  'k' in layer &&
  'v' in layer &&
  layer.k instanceof Float32Array &&
  layer.v instanceof Float32Array
