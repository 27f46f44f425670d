import {
  type ConvolutionState,
  checkContinued,
  checkKvCache,
  checkLoad,
  checkRead,
  KernelError,
  type KvCache,
  type KvCacheOptions,
  rotaryFrequencies,
} from '@pocket/nn'

import type { Runtime } from './runtime.ts'

/** Memory of one stream: a block that is given back when it was disposed of and nobody else holds it. */
export class State {
  readonly runtime: Runtime
  /** Whether a plan is under way that uses it; see `Plan.start`. */
  underWay = false
  readonly #what: string
  readonly #address: number
  #holders = 1
  #disposed = false

  constructor(runtime: Runtime, floats: number, what: string) {
    this.runtime = runtime
    this.#what = what
    this.#address = runtime.allocate(floats * 4, what)
  }

  /** Throws KernelError `disposed` after `dispose`. */
  get address(): number {
    this.checkAlive()
    return this.#address
  }

  /** Throws KernelError `disposed` after `dispose`: the memory may be another's by now. */
  checkAlive(): void {
    if (this.#disposed) throw new KernelError('disposed', `${this.#what} was disposed`)
  }

  /** Waits until no plan that is under way uses it. Throws KernelError `disposed` after `dispose`. */
  settle(): void {
    this.checkAlive()
    if (this.underWay) this.runtime.settle()
  }

  dispose(): void {
    if (this.#disposed) return
    if (this.underWay) this.runtime.settle()
    this.#disposed = true
    this.release()
  }

  /** Keeps the memory beyond `dispose`, until as many calls of `release`. */
  protected hold(): void {
    this.#holders++
  }

  protected get isHeld(): boolean {
    return this.#holders > 1
  }

  protected release(): void {
    this.#holders--
    if (this.#holders === 0) this.runtime.free(this.#address)
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
    this.settle()
    const { runtime, address, rows, columns } = this
    runtime.words[address / 4] = 1
    const first = address / 4 + headerFloats
    runtime.floats.fill(0, first, first + rows * columns)
  }
}

const headerFloats = 16

/** Where keys and values of a number of slots lie, in the layouts of assembly/attention.ts: keys first. */
interface Slots {
  readonly address: number
  readonly slots: number
}

/**
 * A cache continued from another has slots for the positions after the last whole block of eight only; the blocks
 * before are read where the other has them. Blocks are shared whole so that the same sums are made in the same order.
 */
export class WasmKvCache extends State implements KvCache {
  readonly heads: number
  readonly headDim: number
  readonly capacity: number
  readonly window: number | undefined
  readonly maxPeriod: number
  readonly frequencies: Float32Array
  /** Slots of its own: for the positions from `shared` on. */
  readonly slots: number
  /** Positions that lie in another cache's memory, a multiple of eight. */
  readonly shared: number
  readonly #begin: number
  #base: WasmKvCache | undefined
  readonly #sharedSlots: Slots
  #position: number

  constructor(runtime: Runtime, options: KvCacheOptions, base?: WasmKvCache) {
    const { heads, headDim, capacity, window, maxPeriod } = options
    checkKvCache(options)
    const begin = base?.position ?? 0
    const shared = begin & ~7
    const slots = capacity - shared
    const floats = heads * (keyFloats(slots, headDim) + slots * valueStride(headDim))
    super(runtime, floats, `a KV cache of ${capacity} positions, ${heads} heads of ${headDim}`)
    this.heads = heads
    this.headDim = headDim
    this.capacity = capacity
    this.window = window
    this.maxPeriod = maxPeriod
    this.frequencies = rotaryFrequencies(headDim, maxPeriod)
    this.slots = slots
    this.shared = shared
    this.#base = base
    this.#begin = begin
    this.#position = begin
    this.#sharedSlots = base ? { address: base.address, slots: base.slots } : { address: 0, slots: 0 }
    base?.hold()
  }

  get position(): number {
    return this.#position
  }

  get keys(): number {
    return this.address
  }

  get values(): number {
    return this.#valuesOf({ address: this.address, slots: this.slots })
  }

  /** The keys, values and slots of the cache that this one continues; zeros where there is none. */
  get sharedMemory(): { keys: number; values: number; slots: number } {
    const { address, slots } = this.#sharedSlots
    return { keys: address, values: this.#valuesOf(this.#sharedSlots), slots }
  }

  /** A run has added `rows` positions. */
  advance(rows: number): void {
    this.#position += rows
  }

  continued(capacity: number): WasmKvCache {
    this.settle()
    checkContinued(this, capacity, this.#base !== undefined)
    const { heads, headDim, maxPeriod, runtime } = this
    const own = new WasmKvCache(runtime, { heads, headDim, maxPeriod, capacity }, this)
    own.#copyLastBlock()
    return own
  }

  load(k: Float32Array, v: Float32Array, positions: number): void {
    this.settle()
    this.#checkUnshared('loaded')
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
    this.settle()
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
    if (this.isHeld) this.#checkUnshared('reset')
    this.#position = this.#begin
  }

  override dispose(): void {
    super.dispose()
    this.#base?.release()
    this.#base = undefined
  }

  #checkUnshared(what: string): void {
    if (!this.isHeld && !this.#base) return
    throw new KernelError('unavailable', `a KV cache that shares positions with others cannot be ${what}`)
  }

  /** The positions after the last whole block that is shared: they are about to get neighbours. */
  #copyLastBlock(): void {
    const { headDim, runtime, shared } = this
    const { floats } = runtime
    const own = { address: this.address, slots: this.slots }
    for (let slot = shared; slot < this.#begin; slot++) {
      for (let head = 0; head < this.heads; head++) {
        const from = this.#place(this.#sharedSlots, slot, head)
        const to = this.#place(own, slot - shared, head)
        for (let dim = 0; dim < headDim; dim++) {
          floats[to.key + 8 * dim] = floats[from.key + 8 * dim] ?? 0
          floats[to.value + dim] = floats[from.value + dim] ?? 0
        }
      }
    }
  }

  /**
   * Each head of the positions `begin … end`, in order: the index of its first value outside, and those of the first
   * values of its key (eight apart) and of its value in memory. A call for every value would take three times as long.
   */
  #visit(begin: number, end: number, each: (index: number, key: number, value: number) => void): void {
    const { heads, headDim, shared } = this
    const own = { address: this.address, slots: this.slots }
    let index = 0
    for (let position = begin; position < end; position++) {
      const isShared = position < shared
      for (let head = 0; head < heads; head++, index += headDim) {
        const { key, value } = isShared
          ? this.#place(this.#sharedSlots, position, head)
          : this.#place(own, position - shared, head)
        each(index, key, value)
      }
    }
  }

  /** The first values of a key and of a value, as indices of float32 values. */
  #place(memory: Slots, slot: number, head: number): { key: number; value: number } {
    const { headDim } = this
    const keys = memory.address / 4 + head * keyFloats(memory.slots, headDim)
    const values = this.#valuesOf(memory) / 4 + head * memory.slots * valueStride(headDim)
    return {
      key: keys + (slot >> 3) * headDim * 8 + (slot & 7),
      value: values + slot * valueStride(headDim),
    }
  }

  #valuesOf({ address, slots }: Slots): number {
    return address + this.heads * keyFloats(slots, this.headDim) * 4
  }
}

/** Blocks of eight positions for one head. */
const keyFloats = (capacity: number, headDim: number): number => Math.ceil(capacity / 8) * 8 * headDim

/** Values of one position and head, in whole vectors. */
const valueStride = (headDim: number): number => Math.ceil(headDim / 4) * 4
