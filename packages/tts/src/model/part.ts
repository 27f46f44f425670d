import { openBlob, SafeTensors, SafeTensorsError, type TensorReader } from '@pocket/safetensors'
import { platform } from '#platform'
import { PocketTtsError } from '../errors.ts'
import type { Hub } from '../hub/hub.ts'
import { fromHubUrl, isHubUrl, parseRemotePlace, toHubUrl } from '../hub/hub-url.ts'
import { formatHubLocation, resolveHubPath } from '../hub/location.ts'
import type { ProgressListener } from '../hub/progress.ts'
import { combineLegacyFiles } from '../legacy-checkpoint/combined-reader.ts'
import type { OpenWeights, ReadOptions } from '../platform/platform.ts'

/** Where a file is (a path or a URL), or what it holds. */
export type FilePart = string | URL | Uint8Array | Blob

/** A file of weights, or one that is already open. An open reader stays the caller's to close. */
export type WeightsPart = FilePart | SafeTensors | TensorReader

/** The weights of the two networks in a file each, as older config files have them. */
export interface TwoFiles {
  readonly flowLm: URL
  readonly mimi: URL
}

/** How the parts of a model are had. */
export interface PartOptions extends ReadOptions {
  /** Where files of the hub come from. Called when there is one to fetch, since nobody else needs its settings. */
  readonly hub: () => Hub
  /** Called as a file of the hub is fetched. */
  readonly onDownload?: ProgressListener | undefined
}

/**
 * Where a string leads: a URL as it is, everything else a path. A scheme has at least two letters, so that
 * `C:\voices` stays a path. Places on the hub, links to it too, become `hf:` URLs; see `toHubUrl`.
 * Throws PocketTtsError `invalid-option` or `not-found` for what is no URL.
 */
export const locate = (place: string, base?: URL): URL => {
  if (isRemote(place)) {
    const remote = parseRemotePlace(place)
    return remote.kind === 'hub' ? toHubUrl(remote.location) : remote.url
  }
  if (isUrl(place)) return toUrl(place)
  if (base && isHubUrl(base)) return toHubUrl(resolveHubPath(fromHubUrl(base), place))
  return platform.toUrl(place, base)
}

const isRemote = (place: string): boolean => /^(hf|https?):\/\//i.test(place)

export const isUrl = (place: string): boolean => /^([a-z][a-z\d+.-]+:\/\/|file:|data:|blob:)/i.test(place)

/** The name of a part for messages: its place, or what kind of thing it is. */
export const describePart = (part: WeightsPart | TwoFiles): string => {
  if (typeof part === 'string') return part
  if (part instanceof URL) return describeUrl(part)
  if (part instanceof Uint8Array) return `${part.length} bytes`
  if (part instanceof Blob) return `a Blob of ${part.size} bytes`
  return isTwoFiles(part) ? `${describeUrl(part.flowLm)} and ${describeUrl(part.mimi)}` : 'an open reader'
}

/** As people write it. For messages alone: what a path may hold on other systems is theirs to say. */
const filePath = ({ pathname, href }: URL): string => {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return href
  }
}

export const describeUrl = (url: URL): string => {
  if (url.protocol === 'data:') return 'a data: URL'
  if (url.protocol === 'file:') return filePath(url)
  return isHubUrl(url) ? formatHubLocation(fromHubUrl(url)) : url.href
}

const isTwoFiles = (part: WeightsPart | TwoFiles): part is TwoFiles =>
  typeof part === 'object' && 'flowLm' in part && 'mimi' in part

export const isFilePart = (part: unknown): part is FilePart =>
  typeof part === 'string' || part instanceof URL || part instanceof Uint8Array || part instanceof Blob

/** Whether what a part holds is in a file or a Blob, so that it can be opened again without fetching or keeping it. */
export const isInFile = (part: WeightsPart | TwoFiles): boolean => {
  if (part instanceof Blob) return true
  if (part instanceof URL) return part.protocol === 'file:' || isHubUrl(part)
  if (typeof part === 'string') return isInFile(locate(part))
  return isTwoFiles(part) && isInFile(part.flowLm) && isInFile(part.mimi)
}

/** The bytes of a part. Throws PocketTtsError as `Hub.download` does, `not-found`, or the signal's reason. */
export const readPart = async (part: FilePart, options: PartOptions): Promise<Uint8Array> => {
  if (part instanceof Uint8Array) return part
  if (part instanceof Blob) return readBlob(part)
  const url = typeof part === 'string' ? locate(part) : part
  return isHubUrl(url) ? readPart(await fetchFromHub(url, options), options) : platform.read(url, options)
}

/** Opens weights of any kind. Throws as `readPart`, PocketTtsError `invalid-model`, or the signal's reason. */
export const openWeightsPart = async (
  part: WeightsPart | TwoFiles,
  options: PartOptions,
): Promise<OpenWeights> => {
  try {
    if (part instanceof Uint8Array) return { reader: SafeTensors.fromBytes(part), close: nothingToClose }
    if (part instanceof Blob) return { reader: await openBlob(part), close: nothingToClose }
    if (isFilePart(part)) return await openPlace(typeof part === 'string' ? locate(part) : part, options)
    return isTwoFiles(part) ? await openTwoFiles(part, options) : { reader: part, close: nothingToClose }
  } catch (cause) {
    if (!(cause instanceof SafeTensorsError)) throw cause
    const code =
      cause.code === 'file-not-found' || cause.code === 'not-a-file' ? 'not-found' : 'invalid-model'
    throw new PocketTtsError(code, `the weights in ${describePart(part)}: ${cause.message}`, { cause })
  }
}

const openPlace = async (url: URL, options: PartOptions): Promise<OpenWeights> =>
  isHubUrl(url)
    ? openWeightsPart(await fetchFromHub(url, options), options)
    : platform.openWeights(url, options)

const openTwoFiles = async ({ flowLm, mimi }: TwoFiles, options: PartOptions): Promise<OpenWeights> => {
  const first = await openWeightsPart(flowLm, options)
  try {
    const second = await openWeightsPart(mimi, options)
    const close = async (): Promise<void> => {
      await Promise.all([first.close(), second.close()])
    }
    try {
      return { reader: combineLegacyFiles(first.reader, second.reader), close }
    } catch (error) {
      await second.close()
      throw error
    }
  } catch (error) {
    await first.close()
    throw error
  }
}

const fetchFromHub = async (url: URL, { hub, signal, onDownload }: PartOptions): Promise<URL | Blob> => {
  const { file } = await hub().download(fromHubUrl(url), { signal, onProgress: onDownload })
  return file
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
