import type { OpenHub } from '../hub.ts'
import { officialEndpoint } from '../hub-url.ts'
import { checkEndpoint, checkToken } from '../settings.ts'
import { CacheBlobStore, MemoryBlobStore } from './blob-store.ts'
import { BrowserHub } from './browser-hub.ts'

const cacheName = 'pocket-hub'

/** Without cache storage what is fetched is kept for as long as the page is. */
const memory = new MemoryBlobStore()

/** Throws PocketTtsError `invalid-option`. */
export const openHub: OpenHub = (
  { endpoint = officialEndpoint, token, offline = false } = {},
  tuning = {},
) => {
  const known = token === undefined || token === false ? undefined : checkToken(token, 'the option')
  const settings = {
    endpoint: checkEndpoint(endpoint, 'endpoint'),
    token: known,
    tokenSource: known === undefined ? undefined : 'the option',
    offline,
  }
  const store = globalThis.caches ? new CacheBlobStore(globalThis.caches, cacheName) : memory
  return new BrowserHub(settings, store, tuning)
}
