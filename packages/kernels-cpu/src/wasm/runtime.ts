import { KernelError } from '@pocket/nn'
import { FirstFitAllocator } from './allocator.ts'

/** The functions that assembly/index.ts exports. Addresses are bytes from the start of the memory; see there for the meaning. */
export interface KernelExports {
  run(program: number): void
  packPanel(rows: number, count: number, inputs: number, panel: number, conversion: number): void
}

const pageBytes = 65536
/** Memory begins small; an executor that only plays with a few kernels should not reserve megabytes. */
const initialPages = 16
/** The most that 32-bit addresses reach. */
const maximumPages = 65536
/** Memory grows by at least this share of itself: engines that move it as it grows do so seldom. */
const growth = 1 / 4
/** One instance of the kernels and the memory they work on. Everything of an executor lies in that memory. */
export class Runtime {
  #parts: { memory: WebAssembly.Memory; kernels: KernelExports } | undefined
  readonly #allocator: FirstFitAllocator
  #floats: Float32Array<ArrayBuffer>
  #words: Uint32Array<ArrayBuffer>

  private constructor(memory: WebAssembly.Memory, kernels: KernelExports, begin: number) {
    this.#parts = { memory, kernels }
    // The kernels' constants come first; never address 0, which means "not there" in descriptors.
    this.#allocator = new FirstFitAllocator(begin, memory.buffer.byteLength)
    this.#floats = new Float32Array(memory.buffer)
    this.#words = new Uint32Array(memory.buffer)
  }

  static async create(module: WebAssembly.Module): Promise<Runtime> {
    const memory = new WebAssembly.Memory({ initial: initialPages, maximum: maximumPages })
    const { exports } = await WebAssembly.instantiate(module, { env: { memory } })
    // The one place where the module's untyped exports get their types; a test compares the two lists.
    const { memoryBegin, ...kernels } = exports as unknown as KernelExports & {
      memoryBegin: WebAssembly.Global
    }
    return new Runtime(memory, kernels, memoryBegin.value)
  }

  /** Threads that share the work. */
  get threads(): number {
    return 1
  }

  /** Throws KernelError `disposed` after `dispose`. */
  get kernels(): KernelExports {
    return this.#alive().kernels
  }

  /** All of memory as float32. Growing replaces it: never keep it across an allocation. */
  get floats(): Float32Array<ArrayBuffer> {
    this.#alive()
    return this.#floats
  }

  /** All of memory as 32-bit words; see `floats`. */
  get words(): Uint32Array<ArrayBuffer> {
    this.#alive()
    return this.#words
  }

  /** Bytes that are handed out. */
  get used(): number {
    return this.#allocator.used
  }

  /**
   * Room for `bytes` bytes, on a cache line, of no particular content. `what` names it in the KernelError
   * `out-of-memory` that is thrown where the memory cannot grow.
   */
  allocate(bytes: number, what: string): number {
    const { memory } = this.#alive()
    const address = this.#allocator.allocate(bytes)
    if (address !== undefined) return address
    const held = memory.buffer.byteLength
    if (!this.#grow(memory, this.#allocator.endFor(bytes))) {
      throw new KernelError(
        'out-of-memory',
        `${what}: ${bytes} bytes asked for; the WebAssembly memory holds ${held} bytes, ${this.used} of them ` +
          `in use, and cannot grow enough. Dispose of what is not needed, or reserve fewer positions`,
      )
    }
    return this.allocate(bytes, what)
  }

  /** Room for `length` zeros; the address of the first. */
  allocateFloats(length: number, what: string): number {
    const address = this.allocate(length * 4, what)
    this.floats.fill(0, address / 4, address / 4 + length)
    return address
  }

  /** A copy of `values` in memory. */
  store(values: Float32Array, what: string): number {
    const address = this.allocate(values.length * 4, what)
    this.floats.set(values, address / 4)
    return address
  }

  /** Gives back what `allocate` gave. Nothing is left to give back after `dispose`. */
  free(address: number): void {
    if (this.#parts) this.#allocator.free(address)
  }

  dispose(): void {
    this.#parts = undefined
    this.#floats = new Float32Array()
    this.#words = new Uint32Array()
  }

  #alive(): { memory: WebAssembly.Memory; kernels: KernelExports } {
    if (!this.#parts) throw new KernelError('disposed', 'the executor was disposed')
    return this.#parts
  }

  #grow(memory: WebAssembly.Memory, end: number): boolean {
    const pages = memory.buffer.byteLength / pageBytes
    const needed = Math.ceil(end / pageBytes)
    const wished = Math.min(maximumPages, Math.max(needed, Math.ceil(pages * (1 + growth))))
    if (needed > maximumPages || !(growBy(memory, wished - pages) || growBy(memory, needed - pages))) {
      return false
    }
    this.#floats = new Float32Array(memory.buffer)
    this.#words = new Uint32Array(memory.buffer)
    this.#allocator.extend(memory.buffer.byteLength)
    return true
  }
}

const growBy = (memory: WebAssembly.Memory, pages: number): boolean => {
  try {
    memory.grow(pages)
    return true
  } catch {
    return false
  }
}
