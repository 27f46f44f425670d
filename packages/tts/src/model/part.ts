import { openBlob, SafeTensors, SafeTensorsError, type TensorReader } from '@pocket/safetensors'
import { platform } from '#platform'
import { PocketTtsError } from '../errors.ts'
import type { OpenWeights, ReadOptions } from '../platform/platform.ts'

/** Where a file is (a path or a URL), or what it holds. */
export type FilePart = string | URL | Uint8Array | Blob

/** A file of weights, or one that is already open. An open reader stays the caller's to close. */
export type WeightsPart = FilePart | SafeTensors | TensorReader

/**
 * Where a string leads: a URL as it is, everything else a path. A scheme has at least two letters, so that
 * `C:\voices` stays a path. Throws PocketTtsError `unsupported` for `hf://`.
 */
export const locate = (place: string, base?: URL): URL => {
  if (place.startsWith('hf://')) {
    throw new PocketTtsError(
      'unsupported',
      `${place}: downloads from the Hugging Face hub are not available yet; download the file and give its path`,
    )
  }
  return isUrl(place) ? toUrl(place) : platform.toUrl(place, base)
}

export const isUrl = (place: string): boolean => /^([a-z][a-z\d+.-]+:\/\/|file:|data:|blob:)/i.test(place)

/** The name of a part for messages: its place, or what kind of thing it is. */
export const describePart = (part: WeightsPart): string => {
  if (typeof part === 'string') return part
  if (part instanceof URL) return part.protocol === 'data:' ? 'a data: URL' : part.href
  if (part instanceof Uint8Array) return `${part.length} bytes`
  return part instanceof Blob ? `a Blob of ${part.size} bytes` : 'an open reader'
}

export const isFilePart = (part: unknown): part is FilePart =>
  typeof part === 'string' || part instanceof URL || part instanceof Uint8Array || part instanceof Blob

/** The bytes of a part. Throws PocketTtsError `not-found`, or the signal's reason. */
export const readPart = async (part: FilePart, options?: ReadOptions): Promise<Uint8Array> => {
  if (part instanceof Uint8Array) return part
  if (part instanceof Blob) return readBlob(part)
  return platform.read(typeof part === 'string' ? locate(part) : part, options)
}

/** Opens weights of any kind. Throws PocketTtsError `not-found` or `invalid-model`, or the signal's reason. */
export const openWeightsPart = async (part: WeightsPart, options?: ReadOptions): Promise<OpenWeights> => {
  try {
    if (part instanceof Uint8Array) return { reader: SafeTensors.fromBytes(part), close: nothingToClose }
    if (part instanceof Blob) return { reader: await openBlob(part), close: nothingToClose }
    if (!isFilePart(part)) return { reader: part, close: nothingToClose }
    return await platform.openWeights(typeof part === 'string' ? locate(part) : part, options)
  } catch (cause) {
    if (!(cause instanceof SafeTensorsError)) throw cause
    const code =
      cause.code === 'file-not-found' || cause.code === 'not-a-file' ? 'not-found' : 'invalid-model'
    throw new PocketTtsError(code, `the weights in ${describePart(part)}: ${cause.message}`, { cause })
  }
}

const nothingToClose = async (): Promise<void> => {}

const readBlob = async (blob: Blob): Promise<Uint8Array> => {
  try {
    return new Uint8Array(await blob.arrayBuffer())
  } catch (cause) {
    throw new PocketTtsError('not-found', `a Blob of ${blob.size} bytes cannot be read any more`, { cause })
  }
}

const toUrl = (text: string): URL => {
  try {
    return new URL(text)
  } catch (cause) {
    throw new PocketTtsError('not-found', `'${text}' is no URL`, { cause })
  }
}
