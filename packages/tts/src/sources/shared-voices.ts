import type { FlowLm, KvSnapshot, SharedSnapshot } from '@pocket/flowlm'

interface Entry {
  readonly shared: SharedSnapshot
  users: number
}

export interface SharedVoicesOptions {
  /** Bytes of voices that stay although nobody speaks with them, besides the one used last. Default 0. */
  readonly idleBytes?: number
}

/**
 * Voices in the executor's memory: utterances that speak with one at the same time read the same one. The voice used
 * last stays for the next utterance, and of the others those used latest, as far as `idleBytes` go. A voice is known by
 * its cache object.
 */
export class SharedVoices {
  readonly #flowLm: Pick<FlowLm, 'share'>
  readonly #idleBytes: number
  /** Least recently used first. */
  readonly #entries = new Map<KvSnapshot, Entry>()

  constructor(flowLm: Pick<FlowLm, 'share'>, { idleBytes = 0 }: SharedVoicesOptions = {}) {
    this.#flowLm = flowLm
    this.#idleBytes = idleBytes
  }

  /** To be given back with `release`, once per call. */
  use(kv: KvSnapshot): SharedSnapshot {
    const entry = this.#entries.get(kv) ?? { shared: this.#flowLm.share(kv), users: 0 }
    entry.users++
    this.#entries.delete(kv)
    this.#entries.set(kv, entry)
    this.#dropIdle()
    return entry.shared
  }

  release(kv: KvSnapshot): void {
    const entry = this.#entries.get(kv)
    if (!entry) return
    entry.users--
    this.#dropIdle()
  }

  /** Gives back also those in use, whose users must be gone. */
  dispose(): void {
    for (const { shared } of this.#entries.values()) shared.dispose()
    this.#entries.clear()
  }

  /** From the latest on: the first stays whatever its size, the others while they fit. */
  #dropIdle(): void {
    let left = this.#idleBytes
    const [, ...others] = [...this.#entries].reverse()
    for (const [kv, { shared, users }] of others) {
      if (users > 0) continue
      left -= bytesOf(kv)
      if (left >= 0) continue
      shared.dispose()
      this.#entries.delete(kv)
    }
  }
}

const bytesOf = ({ layers }: KvSnapshot): number =>
  layers.reduce((sum, { k, v }) => sum + k.byteLength + v.byteLength, 0)
