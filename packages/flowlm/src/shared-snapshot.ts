import type { Kernels, KvCache, KvCacheLane } from '@pocket/nn'
import type { Backbone } from './backbone.ts'
import type { FlowLmConfig } from './config.ts'
import { FlowLmError } from './errors.ts'
import type { KvSnapshot } from './kv-snapshot.ts'

/**
 * A snapshot in the executor's memory, read there by all states that adopt it: each takes memory and time for its own
 * positions only. Where an executor cannot share, every state has a copy.
 */
export interface SharedSnapshot {
  readonly positions: number
  /** Gives the memory back once no state uses it any more. A second call does nothing. */
  dispose(): void
}

/** A cache of one layer, with `capacity` positions, that begins with what a snapshot holds. */
export interface CacheSource {
  readonly positions: number
  cache(layer: number, capacity: number): KvCache
}

const makeCache = (kernels: Kernels, config: FlowLmConfig, capacity: number): KvCache => {
  const { heads, headDim, maxPeriod } = config
  return kernels.kvCache({ heads, headDim, maxPeriod, capacity })
}

/** Caches that each hold a copy of the snapshot, or nothing where there is none. */
export const copies = (kernels: Kernels, config: FlowLmConfig, snapshot?: KvSnapshot): CacheSource => ({
  positions: snapshot?.positions ?? 0,
  cache(layer, capacity) {
    const cache = makeCache(kernels, config, capacity)
    const adopted = snapshot?.layers[layer]
    if (adopted) cache.load(adopted.k, adopted.v, snapshot.positions)
    return cache
  },
})

export class BackboneSnapshot implements SharedSnapshot, CacheSource {
  readonly backbone: Backbone
  readonly positions: number
  readonly #caches: KvCache[] = []
  /** For an executor that shares nothing. */
  #copies: CacheSource | undefined

  constructor(kernels: Kernels, backbone: Backbone, config: FlowLmConfig, snapshot: KvSnapshot) {
    this.backbone = backbone
    this.positions = snapshot.positions
    const own = copies(kernels, config, snapshot)
    try {
      for (let layer = 0; layer < config.layers && !this.#copies; layer++) {
        // A cache for no positions cannot be made.
        const cache = own.cache(layer, Math.max(1, snapshot.positions))
        this.#caches.push(cache)
        if (!cache.continued) this.#copies = copies(kernels, config, structuredClone(snapshot))
      }
    } catch (error) {
      this.dispose()
      throw error
    }
    if (this.#copies) this.#release()
  }

  /** Throws FlowLmError `disposed`. */
  cache(layer: number, capacity: number): KvCache {
    const cache = this.#copies?.cache(layer, capacity) ?? this.#caches[layer]?.continued?.(capacity)
    if (cache) return cache
    throw disposedError()
  }

  /** Puts one layer into a lane of a cache. Throws FlowLmError `disposed`. */
  loadLane(layer: number, lane: KvCacheLane): void {
    const cache = this.#caches[layer]
    if (!cache) throw disposedError()
    lane.adopt(cache)
  }

  dispose(): void {
    this.#copies = undefined
    this.#release()
  }

  #release(): void {
    for (const cache of this.#caches.splice(0)) cache.dispose()
  }
}

const disposedError = (): FlowLmError =>
  new FlowLmError('disposed', 'the shared snapshot was disposed: make another with share()')
