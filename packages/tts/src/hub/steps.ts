import { PocketTtsError } from '../errors.ts'
import type { HubFile, HubTuning } from './hub.ts'
import { formatHubLocation, type HubLocation } from './location.ts'
import type { ProgressMeter } from './progress.ts'
import { checksumOf, type RemoteFile } from './remote-file.ts'
import { withRetries } from './retry.ts'
import type { TransferRequest } from './transfer.ts'

/** What `fetch` gives, or the copy of an earlier day where there is one and the hub cannot be reached. */
export const unlessUnreachable = async (
  copy: HubFile | undefined,
  fetch: () => Promise<HubFile>,
): Promise<HubFile> => {
  try {
    return await fetch()
  } catch (error) {
    if (copy && error instanceof PocketTtsError && error.code === 'download-failed') return copy
    throw error
  }
}

/** Asks about a file as often as it takes, or once where a copy is at hand: nobody waits long for a network that is off. */
export const inspect = (
  ask: () => Promise<RemoteFile>,
  hasCopy: boolean,
  { retries }: Pick<Required<HubTuning>, 'retries'>,
  signal: AbortSignal,
): Promise<RemoteFile> => withRetries(ask, hasCopy ? { ...retries, attempts: 1 } : retries, signal)

/** What a transfer of a file from the hub is told, but for what differs between platforms. */
export const transferOf = (
  location: HubLocation,
  { size, etag }: RemoteFile,
  { retries, stallMs, maxBytes }: Required<HubTuning>,
  meter: ProgressMeter,
  signal: AbortSignal,
): Omit<TransferRequest, 'open' | 'conditional' | 'createDigest'> => ({
  place: formatHubLocation(location),
  size,
  checksum: checksumOf(etag),
  maxBytes,
  stallMs,
  retries,
  signal,
  onBytes: (loaded) => meter.update(loaded, size),
})
