import type { PartialFile } from '../transfer.ts'
import type { BlobStore } from './blob-store.ts'

/**
 * A file in parts, each stored whole: cache storage keeps nothing of an entry that was not finished, so one entry per
 * part is what makes a download resumable. Parts are numbered from 0 without gaps; their sizes may differ.
 */
export class StoredParts implements PartialFile {
  readonly #store: BlobStore
  readonly #prefix: string
  readonly #partBytes: number
  readonly #parts: Blob[]
  #pending: Uint8Array<ArrayBuffer>[] = []
  #pendingBytes = 0
  #storedBytes: number

  /** What is stored under `prefix`, up to the first gap. */
  static async open(store: BlobStore, prefix: string, partBytes: number): Promise<StoredParts> {
    const parts: Blob[] = []
    for (;;) {
      const part = await store.get(`${prefix}/${parts.length}`)
      if (!part) return new StoredParts(store, prefix, partBytes, parts)
      parts.push(part)
    }
  }

  private constructor(store: BlobStore, prefix: string, partBytes: number, parts: Blob[]) {
    this.#store = store
    this.#prefix = prefix
    this.#partBytes = partBytes
    this.#parts = parts
    this.#storedBytes = parts.reduce((bytes, { size }) => bytes + size, 0)
  }

  get length(): number {
    return this.#storedBytes + this.#pendingBytes
  }

  async *read(): AsyncGenerator<Uint8Array, void> {
    for (const part of this.#parts) yield new Uint8Array(await part.arrayBuffer())
    yield* this.#pending
  }

  async append(bytes: Uint8Array): Promise<void> {
    // A copy: what a reader hands out may be a view of something larger.
    this.#pending.push(bytes.slice())
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes >= this.#partBytes) await this.flush()
  }

  /** Stores what has not made a part yet. */
  async flush(): Promise<void> {
    if (this.#pendingBytes === 0) return
    const part = new Blob(this.#pending)
    await this.#store.put(`${this.#prefix}/${this.#parts.length}`, part)
    this.#parts.push(part)
    this.#storedBytes += part.size
    this.#pending = []
    this.#pendingBytes = 0
  }

  async clear(): Promise<void> {
    // The last first: what a page that is closed meanwhile leaves has no gap.
    while (this.#parts.length > 0) {
      await this.#store.delete(`${this.#prefix}/${this.#parts.length - 1}`)
      this.#parts.pop()
    }
    this.#pending = []
    this.#pendingBytes = 0
    this.#storedBytes = 0
  }

  /** The stored parts as one Blob. Nothing is copied. */
  blob(): Blob {
    return new Blob(this.#parts)
  }
}
