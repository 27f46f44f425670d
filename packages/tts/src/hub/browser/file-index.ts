import { checkHubLocation, formatHubLocation, type HubLocation, parseHubLocation } from '../location.ts'
import type { BlobStore } from './blob-store.ts'

/** What a place held when it was fetched; the parts are stored under the ETag. */
export interface IndexEntry {
  readonly location: HubLocation
  readonly etag: string
  readonly size: number
}

const indexPrefix = 'files/'
const partsPrefix = 'parts/'

/** `#` would be cut off as a URL's fragment and `?` as its query: neither can occur in a place. */
const indexKey = (location: HubLocation): string =>
  indexPrefix + encodeURIComponent(formatHubLocation(location))

/** Contents belong to their repository: whoever may not read that shall not find them. */
export const partsKey = ({ owner, repo }: Pick<HubLocation, 'owner' | 'repo'>, etag: string): string =>
  `${partsPrefix}${owner}/${repo}/${etag}`

export const readEntry = async (store: BlobStore, location: HubLocation): Promise<IndexEntry | undefined> => {
  const blob = await store.get(indexKey(location))
  return blob && parseEntry(await blob.text(), location)
}

export const writeEntry = (store: BlobStore, { location, etag, size }: IndexEntry): Promise<void> =>
  store.put(indexKey(location), new Blob([JSON.stringify({ etag, size })]))

export const deleteEntry = (store: BlobStore, location: HubLocation): Promise<void> =>
  store.delete(indexKey(location))

/** All entries of some repositories, sorted by place. */
export const listEntries = async (
  store: BlobStore,
  wanted: (location: HubLocation) => boolean,
): Promise<IndexEntry[]> => {
  const entries: IndexEntry[] = []
  for (const key of (await store.keys()).sort()) {
    if (!key.startsWith(indexPrefix)) continue
    const location = parseHubLocation(decodeURIComponent(key.slice(indexPrefix.length)))
    const entry = wanted(location) ? await readEntry(store, location) : undefined
    if (entry) entries.push(entry)
  }
  return entries
}

/** The keys of parts, each with what they are parts of: `owner/repo/etag`. */
export const listParts = async (store: BlobStore): Promise<{ key: string; contents: string }[]> =>
  (await store.keys())
    .filter((key) => key.startsWith(partsPrefix))
    .map((key) => ({ key, contents: key.slice(partsPrefix.length, key.lastIndexOf('/')) }))

const parseEntry = (text: string, location: HubLocation): IndexEntry | undefined => {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('etag' in value) || !('size' in value))
    return undefined
  const { etag, size } = value
  if (typeof etag !== 'string' || typeof size !== 'number') return undefined
  return { location: checkHubLocation(location, (problem) => new Error(problem)), etag, size }
}
