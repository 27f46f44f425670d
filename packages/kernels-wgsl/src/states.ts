import {
  type ConvolutionState,
  checkContinued,
  checkKvCache,
  checkLoad,
  checkRead,
  KernelError,
  type KvCache,
  type KvCacheOptions,
  type KvCacheLane as LaneOfKvCache,
} from '@pocket/nn'
import { copyOnDevice } from './cache-copy.ts'
import type { Gpu } from './gpu.ts'
import { vectorsOf } from './kernels/attention.ts'
import { flags, historyLength } from './kernels/row-source.ts'

/**
 * What streams remember, on the device; the positions of it are the host's. Every state holds all lanes of its
 * executor, one stream in each. Nothing is cleared by `reset`: a state knows what of its memory counts.
 */
export abstract class GpuState {
  readonly lanes: number
  protected readonly gpu: Gpu
  readonly #what: string
  #disposed = false

  constructor(gpu: Gpu, lanes: number, what: string) {
    this.gpu = gpu
    this.lanes = lanes
    this.#what = what
  }

  /** Throws KernelError `disposed` after `dispose`. */
  checkAlive(): void {
    if (this.#disposed) throw new KernelError('disposed', `${this.#what} was disposed`)
  }

  /** Throws KernelError `shape` unless there is such a lane. */
  protected checkLane(lane: number): void {
    this.checkAlive()
    if (Number.isInteger(lane) && lane >= 0 && lane < this.lanes) return
    throw new KernelError('shape', `${this.#what}: lane ${lane} of ${this.lanes}`)
  }

  protected abstract readonly buffers: readonly GPUBuffer[]

  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    const { buffers, gpu } = this
    gpu.timeline.enqueue(undefined, () => {
      for (const buffer of buffers) gpu.free(buffer)
    })
  }
}

/** A convolution's state for each lane. */
export interface GpuConvolutionState extends ConvolutionState {
  readonly lanes: number
  /** The state of one lane. Throws KernelError `shape` where there is no such lane. */
  lane(lane: number): Pick<ConvolutionState, 'reset'>
}

/** Two halves per lane, `[rows, columns]` each: a run reads one and writes the other. */
export class DeviceConvolutionState extends GpuState implements GpuConvolutionState {
  readonly rows: number
  readonly columns: number
  readonly buffer: GPUBuffer
  readonly #words: Uint32Array

  constructor(gpu: Gpu, lanes: number, rows: number, columns: number) {
    const what = `convolution state of [${rows}, ${columns}]`
    super(gpu, lanes, what)
    this.rows = rows
    this.columns = columns
    this.buffer = gpu.storage(what, lanes * 2 * historyLength(rows, columns) * 4)
    this.#words = new Uint32Array(lanes).fill(flags.fresh)
  }

  protected get buffers(): readonly GPUBuffer[] {
    return [this.buffer]
  }

  /** What a run is told of a lane: parity and freshness. */
  word(lane: number): number {
    return this.#words[lane] ?? 0
  }

  /** A run has written the half that it did not read. */
  advance(lane: number): void {
    this.#words[lane] = (this.word(lane) & flags.parity) ^ flags.parity
  }

  reset(): void {
    this.checkAlive()
    for (let lane = 0; lane < this.lanes; lane++) this.#reset(lane)
  }

  lane(lane: number): Pick<ConvolutionState, 'reset'> {
    this.checkLane(lane)
    return { reset: () => this.#reset(lane) }
  }

  #reset(lane: number): void {
    this.checkAlive()
    this.#words[lane] = this.word(lane) | flags.fresh
  }
}

/** What of a KV cache belongs to one lane. */
export type KvCacheLane = LaneOfKvCache & Pick<KvCache, 'read'>

/** A KV cache for each lane. With more lanes than one, `position`, `load` and `read` are those of `lane(i)`. */
export interface GpuKvCache extends KvCache {
  readonly lanes: number
  /** The cache of one lane. Throws KernelError `shape` where there is no such lane. */
  lane(lane: number): KvCacheLane
}

/** Keys and values in the layouts of kernels/attention.ts. */
export class DeviceKvCache extends GpuState implements GpuKvCache {
  readonly heads: number
  readonly headDim: number
  readonly capacity: number
  readonly window: number | undefined
  readonly maxPeriod: number
  readonly keys: GPUBuffer
  readonly values: GPUBuffer
  readonly #positions: number[]
  /** Positions of the cache that this one was continued from: `reset` goes back to there. */
  #beginning = 0

  constructor(gpu: Gpu, lanes: number, options: KvCacheOptions) {
    checkKvCache(options)
    const { heads, headDim, capacity, window, maxPeriod } = options
    const what = `KV cache of ${capacity} positions, ${heads} heads of ${headDim}`
    super(gpu, lanes, what)
    this.heads = heads
    this.headDim = headDim
    this.capacity = capacity
    this.window = window
    this.maxPeriod = maxPeriod
    const bytes = lanes * this.#laneLength * 4
    this.keys = gpu.storage(`keys of a ${what}`, bytes)
    this.values = gpu.storage(`values of a ${what}`, bytes)
    this.#positions = new Array(lanes).fill(0)
  }

  protected get buffers(): readonly GPUBuffer[] {
    return [this.keys, this.values]
  }

  get position(): number {
    return Math.max(...this.#positions)
  }

  positionOf(lane: number): number {
    return this.#positions[lane] ?? 0
  }

  /** A run has added `rows` positions to a lane. */
  advance(lane: number, rows: number): void {
    this.#positions[lane] = this.positionOf(lane) + rows
  }

  lane(lane: number): KvCacheLane {
    this.checkLane(lane)
    const positionOf = (): number => this.positionOf(lane)
    return {
      get position() {
        return positionOf()
      },
      load: (k, v, positions) => this.#load(lane, k, v, positions),
      read: (from = 0) => this.#read(lane, from),
      reset: () => this.#reset(lane),
      adopt: (from) => this.#adopt(lane, from),
      rewind: (position) => this.#rewind(lane, position),
    }
  }

  /** A copy made on the device: positions lie too near one another there to be shared. */
  continued(capacity: number): DeviceKvCache {
    this.#onlyLane('continued')
    checkContinued(this, capacity, this.#beginning > 0)
    const { heads, headDim, maxPeriod } = this
    return this.gpu.whole(() => {
      const own = new DeviceKvCache(this.gpu, 1, { heads, headDim, maxPeriod, capacity })
      own.#adopt(0, this)
      own.#beginning = this.position
      return own
    })
  }

  rewind(position: number): void {
    for (let lane = 0; lane < this.lanes; lane++) this.#rewind(lane, position)
  }

  load(k: Float32Array, v: Float32Array, positions: number): void {
    this.#load(this.#onlyLane('load'), k, v, positions)
  }

  async read(from = 0): Promise<{ k: Float32Array; v: Float32Array }> {
    return this.#read(this.#onlyLane('read'), from)
  }

  reset(): void {
    for (let lane = 0; lane < this.lanes; lane++) this.#reset(lane)
  }

  #onlyLane(what: string): number {
    this.checkAlive()
    if (this.lanes === 1) return 0
    throw new KernelError('unavailable', `a KV cache of ${this.lanes} lanes: ${what} goes by lane(i).${what}`)
  }

  #reset(lane: number): void {
    this.checkAlive()
    this.#positions[lane] = this.#beginning
  }

  #rewind(lane: number, position: number): void {
    this.checkAlive()
    this.#checkLinear('rewound')
    if (!(Number.isInteger(position) && position >= 0 && position <= this.positionOf(lane))) {
      throw new KernelError('shape', `rewind to position ${position} of ${this.positionOf(lane)}`)
    }
    this.#positions[lane] = position
  }

  #checkLinear(what: string): void {
    if (this.window === undefined) return
    throw new KernelError('unavailable', `a KV cache with a window cannot be ${what}`)
  }

  #adopt(lane: number, from: KvCache): void {
    this.checkAlive()
    this.#checkLinear('adopted into')
    if (!(from instanceof DeviceKvCache && from.gpu === this.gpu)) {
      throw new KernelError('shape', 'a KV cache adopts from caches of the same executor only')
    }
    from.#onlyLane('adopted')
    from.#checkLinear('adopted')
    const { heads, headDim, capacity } = this
    const { position } = from
    if (from.heads !== heads || from.headDim !== headDim) {
      throw new KernelError(
        'shape',
        `a KV cache of ${heads} heads of ${headDim} adopts from one of ${from.heads} heads of ${from.headDim}`,
      )
    }
    if (position > capacity) {
      throw new KernelError('capacity', `${position} positions do not fit a KV cache of ${capacity}`)
    }
    this.#positions[lane] = position
    const vectors = vectorsOf(headDim)
    const targetOffset = (lane * this.#laneLength) / 4
    copyOnDevice(this.gpu, [
      {
        from: from.keys,
        to: this.keys,
        rows: heads * vectors,
        length: position,
        sourceStride: from.capacity,
        targetOffset,
        targetStride: capacity,
      },
      {
        from: from.values,
        to: this.values,
        rows: heads,
        length: position * vectors,
        sourceStride: from.capacity * vectors,
        targetOffset,
        targetStride: capacity * vectors,
      },
    ])
  }

  /** Float32 values of keys, or of values, in one lane. */
  get #laneLength(): number {
    return this.heads * vectorsOf(this.headDim) * 4 * this.capacity
  }

  #load(lane: number, k: Float32Array, v: Float32Array, positions: number): void {
    this.checkAlive()
    checkLoad(this, k, v, positions)
    const keys = new Float32Array(this.#laneLength)
    const values = new Float32Array(this.#laneLength)
    const { capacity } = this
    this.#visit(0, positions, (index, key, value, count) => {
      for (let dim = 0; dim < count; dim += 4, index += 4, key += 4 * capacity) {
        for (let part = 0; part < Math.min(4, count - dim); part++) {
          keys[key + part] = k[index + part] ?? 0
          values[value + dim + part] = v[index + part] ?? 0
        }
      }
    })
    this.#positions[lane] = positions
    const offset = lane * this.#laneLength * 4
    const written = this.gpu.timeline.enqueue(undefined, () => {
      this.gpu.write(this.keys, offset, keys)
      this.gpu.write(this.values, offset, values)
    })
    // A cache that was disposed meanwhile has nobody left to tell.
    written.catch(() => {})
  }

  async #read(lane: number, from: number): Promise<{ k: Float32Array; v: Float32Array }> {
    this.checkAlive()
    const position = this.positionOf(lane)
    checkRead({ window: this.window, position }, from)
    const stretch = { offset: lane * this.#laneLength * 4, bytes: this.#laneLength * 4 }
    const [keys, values] = await this.gpu.read([
      { buffer: this.keys, ...stretch },
      { buffer: this.values, ...stretch },
    ])
    const length = (position - from) * this.heads * this.headDim
    const k = new Float32Array(length)
    const v = new Float32Array(length)
    const { capacity } = this
    this.#visit(from, position, (index, key, value, count) => {
      for (let dim = 0; dim < count; dim++) {
        k[index + dim] = keys?.[key + (dim >> 2) * 4 * capacity + (dim & 3)] ?? 0
        v[index + dim] = values?.[value + dim] ?? 0
      }
    })
    return { k, v }
  }

  /**
   * Each head of the positions `begin … end`: where its values begin outside, and in a lane those of its key, of which
   * every four lie `4 · capacity` apart, and those of its value; and how many values it has.
   */
  #visit(
    begin: number,
    end: number,
    each: (index: number, key: number, value: number, count: number) => void,
  ): void {
    const { heads, headDim, capacity } = this
    const vectors = vectorsOf(headDim)
    let index = 0
    for (let position = begin; position < end; position++) {
      // Of a ring only the last positions are kept, each in its slot.
      const slot = position % capacity
      for (let head = 0; head < heads; head++) {
        each(index, (head * vectors * capacity + slot) * 4, (head * capacity + slot) * vectors * 4, headDim)
        index += headDim
      }
    }
  }
}
