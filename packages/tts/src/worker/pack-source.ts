import { worker } from '#worker'
import { PocketTtsError } from '../errors.ts'
import { type FilePart, isFilePart, isUrl } from '../model/part.ts'
import type { ModelParts } from '../model/source.ts'
import {
  mapValues,
  type PackedPart,
  type PackedSource,
  type PackedUrl,
  type PackedVoiceSource,
} from './packed-source.ts'
import type { Parcel } from './parcel.ts'

/** What `PocketTts.load` takes, but for readers that are already open: those cannot move to another thread. */
export type WorkerModelSource = string | URL | WorkerModelParts

export interface WorkerModelParts extends Omit<ModelParts, 'model'> {
  /**
   * The weights of both networks. Bytes move to the worker, which leaves the array empty; unless they lie in a
   * `SharedArrayBuffer`, which both threads then use, or in a larger buffer, of which they are copied.
   */
  readonly model: FilePart
}

/** Throws PocketTtsError `unsupported` for weights that are an open reader, `invalid-option` for bytes that have moved. */
export const packSource = (source: WorkerModelSource, parcel: Parcel): PackedSource => {
  if (typeof source !== 'object' || source === null) return packName(source)
  if (source instanceof URL) return packUrl(source)
  const { model, tokenizer, config, voices, ...rest } = source
  return {
    ...rest,
    model: packWeights(model, parcel),
    tokenizer: packPart(tokenizer, parcel),
    ...(config && { config: isFilePart(config) ? packPart(config, parcel) : config }),
    ...(voices && { voices: mapValues(voices, (voice) => packPart(voice, parcel)) }),
  }
}

/** What `loadVoice` takes. */
export const packVoiceSource = (
  source: string | URL | Uint8Array,
  names: readonly string[],
  parcel: Parcel,
): PackedVoiceSource => {
  if (source instanceof Uint8Array) return parcel.copy(source)
  return source instanceof URL ? packUrl(source) : packVoiceName(source, names)
}

/** A voice's name stays one, known or not; a place has a slash, or is a file. */
export const packVoiceName = (voice: string, names: readonly string[]): string =>
  !names.includes(voice) && /[/\\]|\.safetensors$/i.test(voice) ? packPlace(voice) : voice

/** One word may be a checkpoint's id; a place has a slash or a dot. */
const packName = (text: string): string => (/[/\\.]/.test(text) ? packPlace(text) : text)

const packPlace = (place: string): string => (isUrl(place) ? place : worker.pathForWorker(place))

const packPart = (part: FilePart, parcel: Parcel): PackedPart => {
  if (typeof part === 'string') return packPlace(part)
  if (part instanceof URL) return packUrl(part)
  return part instanceof Uint8Array ? parcel.copy(part) : part
}

const packWeights = (weights: FilePart, parcel: Parcel): PackedPart => {
  if (weights instanceof Uint8Array) {
    if (!isDetached(weights.buffer)) return parcel.move(weights)
    throw new PocketTtsError(
      'invalid-option',
      "the model's bytes have moved to another worker; read them again, or keep them in a SharedArrayBuffer",
    )
  }
  if (typeof weights === 'object' && weights !== null && !isFilePart(weights)) {
    throw new PocketTtsError(
      'unsupported',
      'the model is an open reader, which cannot move to a worker; give the path, the URL or the bytes of its file',
    )
  }
  return packPart(weights, parcel)
}

const isDetached = (buffer: ArrayBufferLike): boolean => 'detached' in buffer && buffer.detached === true

const packUrl = (url: URL): PackedUrl => ({ packedUrl: url.href })
