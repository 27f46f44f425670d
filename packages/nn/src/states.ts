import type { Convolution, TransposedConvolution } from './weights.ts'

/**
 * Handles to what a stream remembers between runs. Weights are shared by all streams, states belong to one.
 */

/** How many input rows a convolution needs from before: receptive field − stride, or the taps before the newest. */
export const historyRows = (weights: Convolution | TransposedConvolution): number =>
  'depthwise' in weights
    ? weights.kernel / weights.stride - 1
    : (weights.kernel - 1) * weights.dilation + 1 - weights.stride

/** The last input rows of a convolution, `[historyRows, inputChannels]`. */
export interface ConvolutionState {
  readonly rows: number
  readonly columns: number
  /** Back to the beginning of a stream. */
  reset(): void
  /** On executors with lanes: what belongs to one of them. */
  lane?(lane: number): Pick<ConvolutionState, 'reset'>
  dispose(): void
}

export interface KvCacheOptions {
  readonly heads: number
  readonly headDim: number
  /**
   * Positions that fit. Without `window` the cache is linear and a run beyond it is an error; with `window`
   * it is a ring, and `capacity` must be at least window + the most rows of one run, since all rows of a run
   * are written before any attends.
   */
  readonly capacity: number
  /** A position attends to itself and the `window − 1` before it. Left out: to everything before it. */
  readonly window?: number
  /** Longest period of the rotary embedding, in positions × 2π. */
  readonly maxPeriod: number
}

/** What of a KV cache belongs to one lane of an executor that has lanes. */
export interface KvCacheLane extends Pick<KvCache, 'position' | 'load' | 'reset'> {
  /**
   * Starts from what a linear cache of one lane of the same executor holds, which is copied where it is. Throws
   * KernelError `shape`, `capacity`, `unavailable` or `disposed`.
   */
  adopt(from: KvCache): void
  rewind(position: number): void
}

/** Keys (rotary embedding applied) and values of one attention layer. */
export interface KvCache extends Required<Omit<KvCacheOptions, 'window'>> {
  readonly window: number | undefined
  /** Positions seen so far: the next row of a run is rotated to this position. */
  readonly position: number
  /** Starts from given positions: `k` and `v` are `[positions, heads, headDim]`, keys already rotated. */
  load(k: Float32Array, v: Float32Array, positions: number): void
  /** The positions `from` (default 0) up to `position`, of a linear cache: `[positions, heads, headDim]` each. */
  read(from?: number): Promise<{ k: Float32Array; v: Float32Array }>
  /**
   * A linear cache for `capacity` positions that goes on from here: what was seen so far is shared where the executor
   * can, not copied, until both are disposed. Meanwhile this one can be disposed, but not loaded or reset. Missing where
   * an executor shares nothing. Throws KernelError `capacity` or `unavailable`, the latter for a cache with a window and
   * for one that is itself continued from another.
   */
  continued?(capacity: number): KvCache
  /**
   * Forgets the positions from `position` on, of a linear cache: rows that only filled up a pass. Missing where passes
   * of any length are as good. Throws KernelError `shape` or `unavailable`.
   */
  rewind?(position: number): void
  /** On executors with lanes: what belongs to one of them. */
  lane?(lane: number): KvCacheLane
  /** Back to the beginning; a continued cache goes back to where it was continued. */
  reset(): void
  dispose(): void
}
