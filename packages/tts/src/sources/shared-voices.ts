import type { FlowLm, KvSnapshot, SharedSnapshot } from '@pocket/flowlm'

interface Entry {
  readonly shared: SharedSnapshot
  users: number
}

/**
 * Voices in the executor's memory: utterances that speak with one at the same time read the same one. The voice used
 * last stays for the next utterance, all others go with their last user. A voice is known by its cache object.
 */
export class SharedVoices {
  readonly #flowLm: Pick<FlowLm, 'share'>
  readonly #entries = new Map<KvSnapshot, Entry>()
  #latest: KvSnapshot | undefined

  constructor(flowLm: Pick<FlowLm, 'share'>) {
    this.#flowLm = flowLm
  }

  /** To be given back with `release`, once per call. */
  use(kv: KvSnapshot): SharedSnapshot {
    const entry = this.#entries.get(kv) ?? { shared: this.#flowLm.share(kv), users: 0 }
    entry.users++
    this.#entries.set(kv, entry)
    const former = this.#latest
    this.#latest = kv
    if (former) this.#dropUnused(former)
    return entry.shared
  }

  release(kv: KvSnapshot): void {
    const entry = this.#entries.get(kv)
    if (!entry) return
    entry.users--
    this.#dropUnused(kv)
  }

  #dropUnused(kv: KvSnapshot): void {
    const entry = this.#entries.get(kv)
    if (!entry || entry.users > 0 || kv === this.#latest) return
    entry.shared.dispose()
    this.#entries.delete(kv)
  }
}
