import { KernelError } from '@pocket/nn'
import { alignment, FirstFitAllocator } from './allocator.ts'
import { Crew, type CrewExports } from './crew.ts'
import { type KernelExports, type Runner, type SingleExports, singleRunner } from './runner.ts'

const pageBytes = 65536
/** Memory begins small; an executor that only plays with a few kernels should not reserve megabytes. */
const initialPages = 16
/** The most that 32-bit addresses reach. */
const mostPages = 65536
/** 512 MiB: a full-size model and its states. */
const fewestPages = 8192
/** Memory grows by at least this share of itself: engines that move it as it grows do so seldom. */
const growth = 1 / 4

/** What a runtime is until it is disposed of. */
interface Parts {
  readonly memory: WebAssembly.Memory
  readonly maximumPages: number
  readonly kernels: KernelExports
  readonly runner: Runner
}

/** One instance of the kernels and the memory they work on. Everything of an executor lies in that memory. */
export class Runtime {
  /** Threads that share the work. */
  readonly threads: number
  #parts: Parts | undefined
  #onSettled: (() => void) | undefined
  readonly #allocator: FirstFitAllocator
  #floats: Float32Array<ArrayBuffer>
  #words: Uint32Array<ArrayBuffer>

  /** The host may use what begins at `begin`: the kernels' constants come first, and so no block has the address 0. */
  private constructor(parts: Parts, begin: number) {
    const { memory, runner } = parts
    this.#parts = parts
    this.threads = runner.threads
    this.#allocator = new FirstFitAllocator(begin, memory.buffer.byteLength)
    this.#floats = new Float32Array(memory.buffer)
    this.#words = new Uint32Array(memory.buffer)
  }

  /** One thread, with a build that is not shared. */
  static async create(module: WebAssembly.Module): Promise<Runtime> {
    const memory = new WebAssembly.Memory({ initial: initialPages, maximum: mostPages })
    const { exports } = await WebAssembly.instantiate(module, { env: { memory } })
    // Here and below the module's untyped exports get their types; a test compares the lists.
    const { memoryBegin, ...kernels } = exports as unknown as SingleExports & Globals<'memoryBegin'>
    const parts = { memory, maximumPages: mostPages, kernels, runner: singleRunner(kernels) }
    return new Runtime(parts, memoryBegin.value)
  }

  /** Several threads, with a shared build. Throws KernelError `unavailable` where they cannot start. */
  static async createShared(module: WebAssembly.Module, threads: number): Promise<Runtime> {
    const { memory, maximumPages } = sharedMemory()
    const { exports } = await WebAssembly.instantiate(module, { env: { memory } })
    const { memoryBegin, crewBytes, ...kernels } = exports as unknown as CrewExports &
      Globals<'memoryBegin' | 'crewBytes'>
    const crew = Math.ceil(memoryBegin.value / alignment) * alignment
    const runner = await Crew.assemble(kernels, { module, memory, crew }, threads)
    return new Runtime({ memory, maximumPages, kernels, runner }, crew + crewBytes.value)
  }

  /** Runs a program that lies at this address. Throws KernelError `disposed`, `thread-failed`. */
  run(program: number): void {
    this.#alive().runner.run(program)
  }

  /**
   * Begins a program that may go on until `settle`, which is called when it is, and by whoever needs it to be over. One
   * that began before is finished first. Throws as `run` does.
   */
  start(program: number, onSettled: () => void): void {
    this.settle()
    this.#alive().runner.start(program)
    this.#onSettled = onSettled
  }

  /** Waits for the end of what `start` began, and helps with it. Throws as `run` does. */
  settle(): void {
    const onSettled = this.#onSettled
    if (!onSettled) return
    this.#onSettled = undefined
    onSettled()
    this.#parts?.runner.finish()
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
    const { memory, maximumPages } = this.#alive()
    const address = this.#allocator.allocate(bytes)
    if (address !== undefined) return address
    const held = memory.buffer.byteLength
    if (!this.#grow(memory, maximumPages, this.#allocator.endFor(bytes))) {
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
    this.#parts?.runner.dispose()
    this.#parts = undefined
    this.#floats = new Float32Array()
    this.#words = new Uint32Array()
  }

  #alive(): Parts {
    if (!this.#parts) throw new KernelError('disposed', 'the executor was disposed')
    return this.#parts
  }

  #grow(memory: WebAssembly.Memory, maximumPages: number, end: number): boolean {
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

type Globals<Name extends string> = Readonly<Record<Name, WebAssembly.Global>>

/** An engine sets the addresses aside that a shared memory may grow to; one that has not as many gets fewer. */
const sharedMemory = (): { memory: WebAssembly.Memory; maximumPages: number } => {
  for (let maximumPages = mostPages; ; maximumPages /= 2) {
    try {
      const memory = new WebAssembly.Memory({ initial: initialPages, maximum: maximumPages, shared: true })
      return { memory, maximumPages }
    } catch (cause) {
      if (maximumPages > fewestPages) continue
      throw new KernelError('unavailable', 'shared memory cannot be had', { cause })
    }
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
