import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
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
import { resolveUrl } from '../hub-url.ts'
import { formatHubLocation, type HubLocation, isCommit } from '../location.ts'
import { notCached, requireFile } from '../places.ts'
import { type DownloadProgress, ProgressMeter } from '../progress.ts'
import { refusalOf } from '../refusals.ts'
import { type RemoteFile, remoteFileOf } from '../remote-file.ts'
import { usualRetries } from '../retry.ts'
import { SharedTasks } from '../shared-tasks.ts'
import { inspect, transferOf, unlessUnreachable } from '../steps.ts'
import { transfer } from '../transfer.ts'
import {
  type CacheLayout,
  incompleteSuffix,
  lockPath,
  repositoryLayout,
  snapshotPath,
} from './cache-layout.ts'
import { createNodeDigest } from './digest.ts'
import { DiskFile } from './disk-file.ts'
import type { NodeHubSettings } from './environment.ts'
import { withFileLock } from './file-lock.ts'
import { listFiles, removeFile, removeIncomplete, reportOn, verifyFile } from './housekeeping.ts'
import { sendRequest } from './requests.ts'
import { addToSnapshot, fileSize, findInSnapshots, writeRef } from './snapshot.ts'
import { checkSpace, onDisk } from './system-errors.ts'

/** Downloads under way in this process, whichever instance began them. */
const downloads = new SharedTasks<HubFile, DownloadProgress>()

/** The hub with the cache that Node and the Python tools share. */
export class NodeHub implements Hub {
  readonly #settings: NodeHubSettings
  readonly #tuning: Required<HubTuning>

  constructor(settings: NodeHubSettings, tuning: HubTuning = {}) {
    this.#settings = settings
    this.#tuning = {
      retries: usualRetries,
      stallMs: usualStallMs,
      maxBytes: usualMaxBytes,
      links: 'symbolic',
      partBytes: 0,
      ...tuning,
    }
  }

  async find(place: string | HubLocation): Promise<HubFile | undefined> {
    const location = requireFile(place)
    return this.#onDisk(() => findInSnapshots(this.#layout(location), location))
  }

  async download(place: string | HubLocation, options: DownloadOptions = {}): Promise<HubFile> {
    options.signal?.throwIfAborted()
    const location = requireFile(place)
    const cached = await this.find(location)
    if (cached && (isCommit(location.revision) || this.#settings.offline)) return cached
    if (this.#settings.offline) throw notCached(location, this.#settings.cacheDir)
    const { cacheDir, endpoint } = this.#settings
    const key = [cacheDir, endpoint, formatHubLocation(location)].join('\n')
    return downloads.run(
      key,
      (signal, onProgress) => {
        const meter = new ProgressMeter(location, onProgress)
        const fetch = (): Promise<HubFile> => this.#fetch(location, cached !== undefined, meter, signal)
        return this.#onDisk(() => unlessUnreachable(cached, fetch))
      },
      options,
    )
  }

  list(repositories: Iterable<string>): Promise<CachedFile[]> {
    return this.#onDisk(() => listFiles(this.#settings.cacheDir, repositories))
  }

  verify(file: CachedFile, options: Pick<DownloadOptions, 'signal'> = {}): Promise<Verdict> {
    return this.#onDisk(() => verifyFile(file, options.signal))
  }

  remove(file: CachedFile): Promise<number> {
    return this.#onDisk(() => removeFile(this.#layout(file.location), file))
  }

  removeIncomplete(repositories: Iterable<string>): Promise<number> {
    return this.#onDisk(() => removeIncomplete(this.#settings.cacheDir, repositories))
  }

  async report(repositories: Iterable<string>): Promise<HubReport> {
    const { endpoint, offline, tokenSource, cacheDir } = this.#settings
    const contents = await this.#onDisk(() => reportOn(cacheDir, repositories))
    return { endpoint, offline, tokenSource, cache: cacheDir, ...contents }
  }

  async #fetch(
    location: HubLocation,
    hasCopy: boolean,
    meter: ProgressMeter,
    signal: AbortSignal,
  ): Promise<HubFile> {
    const ask = async (): Promise<RemoteFile> => {
      const { headers } = await this.#send('HEAD', location, {}, signal)
      return remoteFileOf(headers, resolveUrl(location, this.#settings.endpoint))
    }
    const remote = await inspect(ask, hasCopy, this.#tuning, signal)
    const commit = commitOf(location, remote)
    const layout = this.#layout(location)
    // The commit's file, not the branch's: that may have moved on since it was looked at.
    await this.#fetchCommit({ ...location, revision: commit }, remote, meter, signal)
    await writeRef(layout, location.revision, commit)
    const found = await findInSnapshots(layout, { ...location, revision: commit })
    if (found) return found
    throw new PocketTtsError(
      'cache-failed',
      `${formatHubLocation(location)} was removed while it was being fetched`,
    )
  }

  /** Sees to it that the snapshot of a commit has the file. */
  async #fetchCommit(
    location: HubLocation,
    remote: RemoteFile,
    meter: ProgressMeter,
    signal: AbortSignal,
  ): Promise<void> {
    const layout = this.#layout(location)
    const path = snapshotPath(layout, location.revision, location.path)
    const blob = join(layout.blobs, remote.etag)
    const incomplete = blob + incompleteSuffix
    const isWhole = async (file: string): Promise<boolean> => {
      const size = await fileSize(file)
      return size !== undefined && size === (remote.size ?? size)
    }
    if (await isWhole(path)) return
    await mkdir(layout.blobs, { recursive: true })
    const onWait = async (): Promise<void> => meter.update((await fileSize(incomplete)) ?? 0, remote.size)
    await withFileLock(lockPath(layout, remote.etag), { signal, onWait }, async () => {
      // Somebody else may have fetched it while this process waited.
      if (await isWhole(path)) return
      if (!(await isWhole(blob))) {
        const file = await DiskFile.open(incomplete)
        try {
          await checkSpace(layout.blobs, (remote.size ?? 0) - file.length)
          const open = (headers: Record<string, string>): Promise<Response> =>
            this.#send('GET', location, headers, signal)
          const known = transferOf(location, remote, this.#tuning, meter, signal)
          await transfer(file, { ...known, open, conditional: true, createDigest: createNodeDigest })
          await file.moveTo(blob)
        } finally {
          await file.close()
        }
      }
      await addToSnapshot(layout, blob, path, this.#tuning.links)
    })
  }

  /** An answer that has what was asked for. Rejects with what `refusalOf` makes of any other. */
  async #send(
    method: 'GET' | 'HEAD',
    location: HubLocation,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    const { stallMs } = this.#tuning
    const url = resolveUrl(location, this.#settings.endpoint)
    const response = await sendRequest(url, this.#settings, { method, headers, signal, stallMs })
    const isRedirect = method === 'HEAD' && response.status >= 300 && response.status < 400
    if (response.ok || isRedirect || response.status === 416) return response
    await response.body?.cancel()
    throw refusalOf(response, location, this.#settings)
  }

  #layout(location: HubLocation): CacheLayout {
    return repositoryLayout(this.#settings.cacheDir, location)
  }

  #onDisk<T>(work: () => Promise<T>): Promise<T> {
    return onDisk(this.#settings.cacheDir, work)
  }
}

const commitOf = (location: HubLocation, { commit }: RemoteFile): string => {
  // What was asked for is what it is filed under, whatever a mirror says.
  if (isCommit(location.revision)) return location.revision
  if (commit !== undefined) return commit
  throw new PocketTtsError(
    'download-failed',
    `${formatHubLocation(location)}: the server does not say which commit '${location.revision}' is; name a commit`,
  )
}
