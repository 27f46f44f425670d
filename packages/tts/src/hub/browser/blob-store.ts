import { messageOf, PocketTtsError } from '../../errors.ts'

/** Blobs by name, each stored whole or not at all. */
export interface BlobStore {
  /** What a person finds it under; undefined for a store that a reload empties. */
  readonly name: string | undefined
  get(key: string): Promise<Blob | undefined>
  put(key: string, blob: Blob): Promise<void>
  delete(key: string): Promise<void>
  keys(): Promise<string[]>
}

/** Cache storage asks for URLs as keys; nothing is ever requested from this one. */
const keyBase = 'https://pocket.invalid/'

/** A page's cache storage, which browsers keep on disk and let every tab and worker of the origin see. */
export class CacheBlobStore implements BlobStore {
  readonly name: string
  readonly #caches: CacheStorage

  constructor(caches: CacheStorage, name: string) {
    this.name = name
    this.#caches = caches
  }

  async get(key: string): Promise<Blob | undefined> {
    const response = await (await this.#open()).match(keyBase + key)
    return response?.blob()
  }

  async put(key: string, blob: Blob): Promise<void> {
    try {
      await (await this.#open()).put(keyBase + key, new Response(blob))
    } catch (cause) {
      const reason = messageOf(cause)
      throw new PocketTtsError(
        'cache-failed',
        `the browser does not store ${blob.size} more bytes (${reason}); free space in its settings, or remove models`,
        { cause },
      )
    }
  }

  async delete(key: string): Promise<void> {
    await (await this.#open()).delete(keyBase + key)
  }

  async keys(): Promise<string[]> {
    const requests = await (await this.#open()).keys()
    return requests.map(({ url }) => url.slice(keyBase.length))
  }

  #open(): Promise<Cache> {
    return this.#caches.open(this.name)
  }
}

/** Where there is no cache storage: pages that are not served securely. A reload forgets all. */
export class MemoryBlobStore implements BlobStore {
  readonly name = undefined
  readonly #blobs = new Map<string, Blob>()

  async get(key: string): Promise<Blob | undefined> {
    return this.#blobs.get(key)
  }

  async put(key: string, blob: Blob): Promise<void> {
    this.#blobs.set(key, blob)
  }

  async delete(key: string): Promise<void> {
    this.#blobs.delete(key)
  }

  async keys(): Promise<string[]> {
    return [...this.#blobs.keys()]
  }
}
