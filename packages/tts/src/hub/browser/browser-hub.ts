import { PocketTtsError } from '../../errors.ts'
import {
  type CachedFile,
  type DownloadOptions,
  type Hub,
  type HubFile,
  type HubReport,
  type HubTuning,
  usualMaxBytes,
  usualStallMs,
  type Verdict,
} from '../hub.ts'
import { pathsInfoUrl, resolveUrl } from '../hub-url.ts'
import { formatHubLocation, type HubLocation, isCommit } from '../location.ts'
import { notCached, requireFile } from '../places.ts'
import { type DownloadProgress, ProgressMeter } from '../progress.ts'
import { refusalOf } from '../refusals.ts'
import { checksumOf, type RemoteFile, remoteFileOfPathsInfo } from '../remote-file.ts'
import { splitRepository } from '../repositories.ts'
import { usualRetries } from '../retry.ts'
import type { HubSettings } from '../settings.ts'
import { SharedTasks } from '../shared-tasks.ts'
import { inspect, transferOf, unlessUnreachable } from '../steps.ts'
import { type TransferRequest, transfer } from '../transfer.ts'
import type { BlobStore } from './blob-store.ts'
import { canHash, createBrowserDigest } from './digest.ts'
import {
  deleteEntry,
  type IndexEntry,
  listEntries,
  listParts,
  partsKey,
  readEntry,
  writeEntry,
} from './file-index.ts'
import { sendRequest } from './requests.ts'
import { StoredParts } from './stored-parts.ts'
import { withTabLock } from './tab-lock.ts'

/** Small enough to lose, large enough that a checkpoint is some dozens. */
const usualPartBytes = 8 * 2 ** 20

/** The hub with a cache in the browser. */
export class BrowserHub implements Hub {
  readonly #settings: HubSettings
  readonly #store: BlobStore
  readonly #tuning: Required<HubTuning>
  readonly #downloads = new SharedTasks<HubFile, DownloadProgress>()

  constructor(settings: HubSettings, store: BlobStore, tuning: HubTuning = {}) {
    this.#settings = settings
    this.#store = store
    this.#tuning = {
      retries: usualRetries,
      stallMs: usualStallMs,
      maxBytes: usualMaxBytes,
      links: 'none',
      partBytes: usualPartBytes,
      ...tuning,
    }
  }

  async find(place: string | HubLocation): Promise<HubFile | undefined> {
    const entry = await readEntry(this.#store, requireFile(place))
    return entry && this.#open(entry)
  }

  async download(place: string | HubLocation, options: DownloadOptions = {}): Promise<HubFile> {
    options.signal?.throwIfAborted()
    const location = requireFile(place)
    const cached = await this.find(location)
    if (cached && (isCommit(location.revision) || this.#settings.offline)) return cached
    if (this.#settings.offline) throw notCached(location, this.#store.name ?? 'memory')
    return this.#downloads.run(
      formatHubLocation(location),
      (signal, onProgress) => {
        const meter = new ProgressMeter(location, onProgress)
        return unlessUnreachable(cached, () => this.#fetch(location, cached !== undefined, meter, signal))
      },
      options,
    )
  }

  async list(repositories: Iterable<string>): Promise<CachedFile[]> {
    const files: CachedFile[] = []
    for (const entry of await listEntries(this.#store, among(repositories))) {
      const file = await this.#open(entry)
      const refs = isCommit(entry.location.revision) ? [] : [entry.location.revision]
      if (file) files.push({ ...file, refs, etag: entry.etag })
    }
    return files
  }

  async verify(
    { file, etag, size }: CachedFile,
    options: Pick<DownloadOptions, 'signal'> = {},
  ): Promise<Verdict> {
    const checksum = etag === undefined ? undefined : checksumOf(etag)
    if (!checksum || !canHash(checksum) || !(file instanceof Blob)) return { state: 'unverifiable' }
    const digest = createBrowserDigest(checksum, size)
    for (let position = 0; position < file.size; position += this.#tuning.partBytes) {
      options.signal?.throwIfAborted()
      digest.update(
        new Uint8Array(await file.slice(position, position + this.#tuning.partBytes).arrayBuffer()),
      )
    }
    const found = await digest.hex()
    return found === checksum.hex ? { state: 'sound' } : { state: 'damaged', expected: checksum.hex, found }
  }

  async remove({ location, etag, size }: CachedFile): Promise<number> {
    await deleteEntry(this.#store, location)
    const { owner, repo } = location
    const others = await listEntries(this.#store, (other) => other.owner === owner && other.repo === repo)
    if (etag === undefined || others.some((other) => other.etag === etag)) return 0
    await (await this.#parts(location, etag)).clear()
    return size
  }

  async removeIncomplete(repositories: Iterable<string>): Promise<number> {
    let freed = 0
    for (const { key, size } of await this.#incomplete([...repositories])) {
      await this.#store.delete(key)
      freed += size
    }
    return freed
  }

  async report(repositories: Iterable<string>): Promise<HubReport> {
    const { endpoint, offline, tokenSource } = this.#settings
    const wanted = [...repositories]
    const entries = await listEntries(this.#store, among(wanted))
    const contents = new Map(entries.map(({ location, etag, size }) => [partsKey(location, etag), size]))
    const incomplete = await this.#incomplete(wanted)
    return {
      endpoint,
      offline,
      tokenSource,
      cache: this.#store.name,
      files: entries.length,
      bytes: [...contents.values()].reduce((sum, size) => sum + size, 0),
      incompleteBytes: incomplete.reduce((sum, { size }) => sum + size, 0),
    }
  }

  async #fetch(
    location: HubLocation,
    hasCopy: boolean,
    meter: ProgressMeter,
    signal: AbortSignal,
  ): Promise<HubFile> {
    const remote = await inspect(() => this.#ask(location, signal), hasCopy, this.#tuning, signal)
    return withTabLock(`pocket ${partsKey(location, remote.etag)}`, signal, async () => {
      const parts = await this.#parts(location, remote.etag)
      const isThere = parts.length > 0 && parts.length === remote.size
      // Parts of another place with the same contents are verified once more: they may be unfinished, of the same size.
      try {
        if (!isThere || !(await this.#isKnown(location, remote))) {
          await transfer(parts, this.#transferOf(location, remote, meter, signal))
        }
      } finally {
        await parts.flush()
      }
      const entry = { location, etag: remote.etag, size: parts.length }
      await writeEntry(this.#store, entry)
      return { location, size: entry.size, file: parts.blob() }
    })
  }

  async #isKnown({ owner, repo }: HubLocation, { etag }: RemoteFile): Promise<boolean> {
    const entries = await listEntries(this.#store, (other) => other.owner === owner && other.repo === repo)
    return entries.some((entry) => entry.etag === etag)
  }

  async #ask(location: HubLocation, signal: AbortSignal): Promise<RemoteFile> {
    const url = pathsInfoUrl(location, this.#settings.endpoint)
    const response = await this.#send(url, location, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ paths: [location.path] }),
      signal,
    })
    const remote = remoteFileOfPathsInfo(await jsonOf(response, url), location.path, url)
    if (remote) return remote
    throw new PocketTtsError('not-found', `${formatHubLocation(location)}: the revision has no such file`)
  }

  #transferOf(
    location: HubLocation,
    remote: RemoteFile,
    meter: ProgressMeter,
    signal: AbortSignal,
  ): TransferRequest {
    const url = resolveUrl(location, this.#settings.endpoint)
    const known = transferOf(location, remote, this.#tuning, meter, signal)
    return {
      ...known,
      checksum: known.checksum && canHash(known.checksum) ? known.checksum : undefined,
      open: (headers) => this.#send(url, location, { method: 'GET', headers, signal }),
      // A header that servers of files need not allow to other origins, where a plain Range needs no permission.
      conditional: false,
      createDigest: createBrowserDigest,
    }
  }

  async #send(
    url: string,
    location: HubLocation,
    request: Parameters<typeof sendRequest>[2],
  ): Promise<Response> {
    const response = await sendRequest(url, this.#settings, request, this.#tuning.stallMs)
    if (response.ok || response.status === 416) return response
    await response.body?.cancel()
    throw refusalOf(response, location, this.#settings)
  }

  async #open({ location, etag, size }: IndexEntry): Promise<HubFile | undefined> {
    const parts = await this.#parts(location, etag)
    // A browser that is short of space may have thrown a part away.
    return parts.length === size ? { location, size, file: parts.blob() } : undefined
  }

  #parts(location: HubLocation, etag: string): Promise<StoredParts> {
    return StoredParts.open(this.#store, partsKey(location, etag), this.#tuning.partBytes)
  }

  async #incomplete(repositories: readonly string[]): Promise<{ key: string; size: number }[]> {
    const isWanted = among(repositories)
    const entries = await listEntries(this.#store, isWanted)
    const whole = new Set(entries.map(({ location, etag }) => partsKey(location, etag)))
    const found: { key: string; size: number }[] = []
    for (const { key, contents } of await listParts(this.#store)) {
      const [owner = '', repo = '', etag = ''] = contents.split('/')
      if (!isWanted({ owner, repo }) || whole.has(partsKey({ owner, repo }, etag))) continue
      found.push({ key, size: (await this.#store.get(key))?.size ?? 0 })
    }
    return found
  }
}

const among = (
  repositories: Iterable<string>,
): ((location: Pick<HubLocation, 'owner' | 'repo'>) => boolean) => {
  const wanted = new Set([...repositories].map((repository) => JSON.stringify(splitRepository(repository))))
  return ({ owner, repo }) => wanted.has(JSON.stringify({ owner, repo }))
}

const jsonOf = async (response: Response, url: string): Promise<unknown> => {
  try {
    return await response.json()
  } catch (cause) {
    throw new PocketTtsError('download-failed', `${url} did not answer with JSON, as the hub does`, { cause })
  }
}
