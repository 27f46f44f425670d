import {
  checkCapacity,
  inputFor,
  KernelError,
  linearCaches,
  type NdArray,
  ndArray,
  type Operation,
  type Plan,
  type Recording,
  readableNames,
  readableTensor,
  type Tensor,
} from '@pocket/nn'
import type { Step } from './binding.ts'
import { compile } from './compile.ts'
import { descriptorBytes } from './descriptors.ts'
import { layOutPlan, type PlanMemory } from './plan-memory.ts'
import { writeProgram } from './program.ts'
import type { Runtime } from './runtime.ts'
import { State } from './states.ts'

/** A recording in one block of memory, ready to run. */
export class WasmPlan implements Plan {
  readonly #runtime: Runtime
  readonly #recording: Recording
  readonly #caches: ReturnType<typeof linearCaches>
  readonly #states: readonly State[]
  readonly #first: (tensor: Tensor) => number
  readonly #steps: readonly Step[]
  readonly #program: number
  readonly #address: number
  #disposed = false
  /** Whether `start` began a run that nobody has waited for. */
  #underWay = false

  constructor(runtime: Runtime, recording: Recording) {
    const { label, operations } = recording
    const memory = layOutPlan(recording, runtime.threads)
    this.#runtime = runtime
    this.#recording = recording
    this.#caches = linearCaches(recording)
    const address = runtime.allocateFloats(memory.bytes / 4, `plan ${label}`)
    this.#address = address
    this.#program = address + memory.program
    this.#first = (tensor) => address / 4 + memory.layout.place(tensor).offset
    try {
      this.#steps = bind(runtime, recording, memory, address)
    } catch (error) {
      runtime.free(address)
      throw error
    }
    this.#states = operations.flatMap(statesOf)
  }

  get taps(): readonly string[] {
    return readableNames(this.#recording)
  }

  write(name: string, values: Float32Array): void {
    this.#checkAlive()
    this.#settle()
    const input = inputFor(this.#recording, name, values)
    this.#runtime.floats.set(values, this.#first(input))
  }

  run(): void {
    this.#prepare()
    this.#runtime.run(this.#program)
  }

  start(): void {
    this.#prepare()
    this.#setUnderWay(true)
    this.#runtime.start(this.#program, () => this.#setUnderWay(false))
  }

  async read(name: string): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    this.#settle()
    const tensor = readableTensor(this.#recording, name)
    const { rows, columns } = tensor
    const first = this.#first(tensor)
    return ndArray(this.#runtime.floats.slice(first, first + rows * columns), [rows, columns])
  }

  dispose(): void {
    if (this.#disposed) return
    this.#settle()
    this.#disposed = true
    this.#runtime.free(this.#address)
  }

  /** Throws before any work; then all is set for a run. */
  #prepare(): void {
    this.#checkAlive()
    this.#settle()
    for (const state of this.#states) state.settle()
    checkCapacity(this.#recording.label, this.#caches)
    for (const { prepare } of this.#steps) prepare?.()
  }

  /** Waits for the end of a run of this plan. */
  #settle(): void {
    if (this.#underWay) this.#runtime.settle()
  }

  #setUnderWay(underWay: boolean): void {
    this.#underWay = underWay
    for (const state of this.#states) state.underWay = underWay
  }

  #checkAlive(): void {
    if (this.#disposed) throw new KernelError('disposed', `plan ${this.#recording.label} was disposed`)
  }
}

/** Fills in the descriptors of all operations, and the program that goes through them. */
const bind = (
  runtime: Runtime,
  { operations }: Recording,
  { layout, ...offsets }: PlanMemory,
  address: number,
): Step[] => {
  const steps = operations.map((operation, index) =>
    compile(operation, {
      runtime,
      layout,
      address,
      descriptors: address + offsets.descriptors + index * descriptorBytes,
      table: address + (offsets.tables[index] ?? 0),
    }),
  )
  const works = steps.flatMap(({ work }) => work)
  const scratch = { address: address + offsets.scratch, stride: offsets.scratchStride }
  writeProgram(runtime, address + offsets.program, works, scratch)
  return steps
}

/** The one state that an operation may have. */
const statesOf = (operation: Operation): State[] => {
  const state = 'state' in operation ? operation.state : 'cache' in operation ? operation.cache : undefined
  return state instanceof State ? [state] : []
}
