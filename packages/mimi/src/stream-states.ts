import type {
  Convolution,
  ConvolutionState,
  Kernels,
  KvCache,
  KvCacheOptions,
  TransformerLayer,
  TransposedConvolution,
} from '@pocket/nn'

/**
 * What one stream remembers between frames: a state for every convolution and a KV cache for every transformer
 * layer, made when a description first asks for it. The weights they belong to are shared by all streams.
 */
export class StreamStates {
  readonly #kernels: Kernels
  readonly #cacheOptions: KvCacheOptions
  readonly #convolutions = new Map<Convolution | TransposedConvolution, ConvolutionState>()
  readonly #caches = new Map<TransformerLayer, KvCache>()

  constructor(kernels: Kernels, cacheOptions: KvCacheOptions) {
    this.#kernels = kernels
    this.#cacheOptions = cacheOptions
  }

  convolution(weights: Convolution | TransposedConvolution): ConvolutionState {
    let state = this.#convolutions.get(weights)
    if (!state) {
      state = this.#kernels.convolutionState(weights)
      this.#convolutions.set(weights, state)
    }
    return state
  }

  cache(layer: TransformerLayer): KvCache {
    let cache = this.#caches.get(layer)
    if (!cache) {
      cache = this.#kernels.kvCache(this.#cacheOptions)
      this.#caches.set(layer, cache)
    }
    return cache
  }

  /** Back to the beginning, in all lanes or in one. */
  reset(lane?: number): void {
    for (const state of this.#all()) (lane === undefined ? state : state.lane?.(lane))?.reset()
  }

  dispose(): void {
    for (const state of this.#all()) state.dispose()
    this.#convolutions.clear()
    this.#caches.clear()
  }

  *#all(): Generator<ConvolutionState | KvCache> {
    yield* this.#convolutions.values()
    yield* this.#caches.values()
  }
}
