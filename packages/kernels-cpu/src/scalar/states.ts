import {
  type ConvolutionState,
  checkContinued,
  checkLoad,
  checkRead,
  KernelError,
  type KvCache,
  type KvCacheOptions,
} from '@pocket/nn'

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
  /** Where it was continued from another cache. */
  #begin = 0

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

  continued(capacity: number): KvCache {
    checkContinued(this, capacity, this.#begin > 0)
    const { heads, headDim, maxPeriod, position, width } = this
    const own = new ScalarKvCache({ heads, headDim, maxPeriod, capacity })
    const seen = position * width
    own.load(this.keys.subarray(0, seen), this.values.subarray(0, seen), position)
    own.#begin = position
    return own
  }

  reset(): void {
    this.position = this.#begin
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
