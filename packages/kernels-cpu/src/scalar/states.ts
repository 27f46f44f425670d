import { type ConvolutionState, KernelError, type KvCache, type KvCacheOptions } from '@pocket/nn'

export class ScalarConvolutionState implements ConvolutionState {
  readonly rows: number
  readonly columns: number
  readonly history: Float32Array
  /** True until the first run: replicate padding needs to know. */
  fresh = true

  constructor(rows: number, columns: number) {
    this.rows = rows
    this.columns = columns
    this.history = new Float32Array(rows * columns)
  }

  reset(): void {
    this.history.fill(0)
    this.fresh = true
  }

  dispose(): void {}
}

/** Keys and values as `[capacity, heads · headDim]`; position p lies in slot p mod capacity. */
export class ScalarKvCache implements KvCache {
  readonly heads: number
  readonly headDim: number
  readonly capacity: number
  readonly window: number | undefined
  readonly maxPeriod: number
  readonly keys: Float32Array
  readonly values: Float32Array
  position = 0

  constructor({ heads, headDim, capacity, window, maxPeriod }: KvCacheOptions) {
    this.heads = heads
    this.headDim = headDim
    this.capacity = capacity
    this.window = window
    this.maxPeriod = maxPeriod
    this.keys = reserve(capacity * this.width)
    this.values = reserve(capacity * this.width)
  }

  get width(): number {
    return this.heads * this.headDim
  }

  load(k: Float32Array, v: Float32Array, positions: number): void {
    checkLoad(this, k, v, positions)
    this.keys.set(k)
    this.values.set(v)
    this.position = positions
  }

  async read(from = 0): Promise<{ k: Float32Array; v: Float32Array }> {
    checkRead(this, from)
    const begin = from * this.width
    const end = this.position * this.width
    return { k: this.keys.slice(begin, end), v: this.values.slice(begin, end) }
  }

  reset(): void {
    this.position = 0
  }

  dispose(): void {}
}

const reserve = (length: number): Float32Array => {
  try {
    return new Float32Array(length)
  } catch (cause) {
    throw new KernelError('out-of-memory', `no memory for a KV cache of ${length} values`, { cause })
  }
}

/** What every executor refuses in `KvCache.load`. */
export const checkLoad = (cache: KvCache, k: Float32Array, v: Float32Array, positions: number): void => {
  if (positions > cache.capacity) {
    throw new KernelError('capacity', `${positions} positions do not fit a KV cache of ${cache.capacity}`)
  }
  const length = positions * cache.heads * cache.headDim
  if (k.length !== length || v.length !== length) {
    throw new KernelError(
      'shape',
      `${positions} positions are ${length} values, got ${k.length} and ${v.length}`,
    )
  }
}

/** What every executor refuses in `KvCache.read`. */
export const checkRead = (cache: KvCache, from: number): void => {
  if (cache.window !== undefined) throw new KernelError('unavailable', 'only a linear KV cache can be read')
  if (!(from >= 0 && from <= cache.position)) {
    throw new KernelError('shape', `read from position ${from} of ${cache.position}`)
  }
}
