import {
  type ConvolutionState,
  checkKvCache,
  checkLoad,
  checkRead,
  KernelError,
  type KvCache,
  type KvCacheOptions,
  rotaryFrequencies,
} from '@pocket/nn'
import type { Runtime } from './runtime.ts'

/** Memory of one stream: a block that is given back by `dispose`. */
export class State {
  readonly runtime: Runtime
  readonly #what: string
  #address: number | undefined

  constructor(runtime: Runtime, floats: number, what: string) {
    this.runtime = runtime
    this.#what = what
    this.#address = runtime.allocate(floats * 4, what)
  }

  /** Throws KernelError `disposed` after `dispose`. */
  get address(): number {
    this.checkAlive()
    return this.#address ?? 0
  }

  /** Throws KernelError `disposed` after `dispose`: the memory may be another's by now. */
  checkAlive(): void {
    if (this.#address === undefined) throw new KernelError('disposed', `${this.#what} was disposed`)
  }

  dispose(): void {
    if (this.#address === undefined) return
    this.runtime.free(this.#address)
    this.#address = undefined
  }
}

/** A word that says whether nothing has run yet, on a cache line of its own, then `[rows, columns]`. */
export class WasmConvolutionState extends State implements ConvolutionState {
  readonly rows: number
  readonly columns: number

  constructor(runtime: Runtime, rows: number, columns: number) {
    super(runtime, headerFloats + rows * columns, `a convolution state of [${rows}, ${columns}]`)
    this.rows = rows
    this.columns = columns
    this.reset()
  }

  get history(): number {
    return this.address + headerFloats * 4
  }

  reset(): void {
    const { runtime, address, rows, columns } = this
    runtime.words[address / 4] = 1
    const first = address / 4 + headerFloats
    runtime.floats.fill(0, first, first + rows * columns)
  }
}

const headerFloats = 16

/** Keys, then values, in the layouts of assembly/attention.ts. */
export class WasmKvCache extends State implements KvCache {
  readonly heads: number
  readonly headDim: number
  readonly capacity: number
  readonly window: number | undefined
  readonly maxPeriod: number
  readonly frequencies: Float32Array
  #position = 0

  constructor(runtime: Runtime, options: KvCacheOptions) {
    const { heads, headDim, capacity, window, maxPeriod } = options
    checkKvCache(options)
    const floats = heads * (keyFloats(capacity, headDim) + capacity * valueStride(headDim))
    super(runtime, floats, `a KV cache of ${capacity} positions, ${heads} heads of ${headDim}`)
    this.heads = heads
    this.headDim = headDim
    this.capacity = capacity
    this.window = window
    this.maxPeriod = maxPeriod
    this.frequencies = rotaryFrequencies(headDim, maxPeriod)
  }

  get position(): number {
    return this.#position
  }

  get keys(): number {
    return this.address
  }

  get values(): number {
    return this.address + this.heads * keyFloats(this.capacity, this.headDim) * 4
  }

  /** A run has added `rows` positions. */
  advance(rows: number): void {
    this.#position += rows
  }

  load(k: Float32Array, v: Float32Array, positions: number): void {
    checkLoad(this, k, v, positions)
    const { headDim, runtime } = this
    const { floats } = runtime
    this.#visit(0, positions, (source, key, value) => {
      for (let dim = 0; dim < headDim; dim++) {
        floats[key + 8 * dim] = k[source + dim] ?? 0
        floats[value + dim] = v[source + dim] ?? 0
      }
    })
    this.#position = positions
  }

  async read(from = 0): Promise<{ k: Float32Array; v: Float32Array }> {
    checkRead(this, from)
    const length = (this.position - from) * this.heads * this.headDim
    const k = new Float32Array(length)
    const v = new Float32Array(length)
    const { headDim, runtime } = this
    const { floats } = runtime
    this.#visit(from, this.position, (target, key, value) => {
      for (let dim = 0; dim < headDim; dim++) {
        k[target + dim] = floats[key + 8 * dim] ?? 0
        v[target + dim] = floats[value + dim] ?? 0
      }
    })
    return { k, v }
  }

  reset(): void {
    this.#position = 0
  }

  /**
   * Each position `begin … end` of each head: the index of its first value outside, and those of the first values of
   * its key (eight apart) and of its value in memory. Head by head, since the keys of eight positions share lines.
   */
  #visit(begin: number, end: number, each: (index: number, key: number, value: number) => void): void {
    const { heads, headDim, capacity } = this
    const keys = this.keys / 4
    const values = this.values / 4
    let index = 0
    for (let slot = begin; slot < end; slot++) {
      for (let head = 0; head < heads; head++, index += headDim) {
        const key = keys + head * keyFloats(capacity, headDim) + (slot >> 3) * headDim * 8 + (slot & 7)
        each(index, key, values + (head * capacity + slot) * valueStride(headDim))
      }
    }
  }
}

/** Blocks of eight positions for one head. */
const keyFloats = (capacity: number, headDim: number): number => Math.ceil(capacity / 8) * 8 * headDim

/** Values of one position and head, in whole vectors. */
const valueStride = (headDim: number): number => Math.ceil(headDim / 4) * 4
