import type { HubLocation } from './location.ts'
import type { ProgressListener } from './progress.ts'
import type { RetryPolicy } from './retry.ts'
import type { HubOptions } from './settings.ts'

export interface DownloadOptions {
  /** Stops waiting, at once; what has come is kept for the next time. */
  readonly signal?: AbortSignal | undefined
  /** Called at most ten times a second, and not at all for a file that is in the cache. */
  readonly onProgress?: ProgressListener | undefined
}

/** A file of the hub that is on this machine. */
export interface HubFile {
  /** With the commit as its revision, where that is known. */
  readonly location: HubLocation
  /** Bytes. */
  readonly size: number
  /** A `file:` URL in Node; in browsers a Blob, which is read from the disk in parts. */
  readonly file: URL | Blob
}

/** A file in the cache, as `list` finds it. */
export interface CachedFile extends HubFile {
  /** Branches and tags that stood for the revision when it was last looked at. */
  readonly refs: readonly string[]
  /** What the hub calls the contents; undefined where the cache does not tell. */
  readonly etag: string | undefined
}

export type Verdict =
  /** The contents hash to what the hub says. */
  | { readonly state: 'sound' }
  /** They do not: remove the file, and it will be fetched anew. */
  | { readonly state: 'damaged'; readonly expected: string; readonly found: string }
  /** The cache does not tell what they should hash to. */
  | { readonly state: 'unverifiable' }

/** What a person wants to know when a download does not do what it should. */
export interface HubReport {
  readonly endpoint: string
  readonly offline: boolean
  /** Where the token comes from; undefined without one. The token itself is told to nobody. */
  readonly tokenSource: string | undefined
  /** A folder in Node, the name of a cache in browsers; undefined where nothing is kept. */
  readonly cache: string | undefined
  /** Files of the repositories asked about, and their bytes, each content counted once. */
  readonly files: number
  readonly bytes: number
  /** Of downloads that were broken off. */
  readonly incompleteBytes: number
}

/**
 * Files of model repositories on the Hugging Face hub, each fetched once and then kept. In Node they lie where the
 * Python tools keep them, so that each finds the other's; in browsers in the page's cache storage.
 */
export interface Hub {
  /**
   * The file at a place (`hf://owner/repo/path@revision`): from the cache, else fetched, verified and kept. A commit
   * that is in the cache needs no network; a branch or tag is asked about, and taken from the cache where the hub cannot
   * be reached. Calls for the same file share one download, in Node across processes, in browsers across tabs.
   *
   * @throws PocketTtsError `invalid-option` (no such place can be), `access-denied` (names the page that grants it),
   *   `not-found`, `offline`, `download-failed`, `checksum-mismatch`, `cache-failed`; the signal's reason
   */
  download(place: string | HubLocation, options?: DownloadOptions): Promise<HubFile>
  /** The file, if it is in the cache; the network is not asked. Throws PocketTtsError `invalid-option`. */
  find(place: string | HubLocation): Promise<HubFile | undefined>
  /** The files of these repositories (`owner/repo`) in the cache, sorted by place. */
  list(repositories: Iterable<string>): Promise<CachedFile[]>
  /** Hashes a file again. */
  verify(file: CachedFile, options?: Pick<DownloadOptions, 'signal'>): Promise<Verdict>
  /** Takes a file out of the cache. Returns the bytes freed: 0 where another revision still has the same contents. */
  remove(file: CachedFile): Promise<number>
  /** Removes what broken-off downloads of these repositories left. Returns the bytes freed. */
  removeIncomplete(repositories: Iterable<string>): Promise<number>
  report(repositories: Iterable<string>): Promise<HubReport>
}

/** Knobs that nobody but a test needs to turn. */
export interface HubTuning {
  readonly retries?: RetryPolicy
  readonly stallMs?: number
  readonly maxBytes?: number
  /** Node: the best kind of link that the cache's file system has. */
  readonly links?: 'symbolic' | 'hard' | 'none'
  /** Browsers: the largest piece that is stored at once. */
  readonly partBytes?: number
}

export type OpenHub = (options?: HubOptions, tuning?: HubTuning) => Hub

/** A minute of silence is no slow network but a dead one. */
export const usualStallMs = 60_000

/** The largest checkpoint, 24 layers in float32, is a fifth of this. */
export const usualMaxBytes = 8 * 2 ** 30
