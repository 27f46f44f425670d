import {
  KernelError,
  layOut,
  type NdArray,
  ndArray,
  type Operation,
  type Plan,
  type Recording,
  type Tensor,
} from '@pocket/nn'
import { checkCapacity, inputFor, linearCaches, readableNames, readableTensor } from '../plan-checks.ts'
import type { Step } from './binding.ts'
import { compile, scratchLength } from './compile.ts'
import { descriptorBytes } from './descriptors.ts'
import type { Runtime } from './runtime.ts'
import { State } from './states.ts'

/** A recording in one block of memory: its tensors and scratch, then a place for the descriptors of each operation. */
export class WasmPlan implements Plan {
  readonly #runtime: Runtime
  readonly #recording: Recording
  readonly #caches: ReturnType<typeof linearCaches>
  readonly #states: readonly State[]
  readonly #first: (tensor: Tensor) => number
  readonly #steps: readonly Step[]
  readonly #address: number
  #disposed = false

  constructor(runtime: Runtime, recording: Recording) {
    const { label, operations } = recording
    this.#runtime = runtime
    this.#recording = recording
    this.#caches = linearCaches(recording)
    const layout = layOut(recording, scratchLength)
    const floats = layout.length + (operations.length * descriptorBytes) / 4
    const address = runtime.allocateFloats(floats, `plan ${label}`)
    this.#address = address
    this.#first = (tensor) => address / 4 + layout.place(tensor).offset
    try {
      this.#steps = operations.map((operation, index) => {
        const descriptors = address + layout.length * 4 + index * descriptorBytes
        return compile(operation, { runtime, layout, address, descriptors })
      })
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
    const input = inputFor(this.#recording, name, values)
    this.#runtime.floats.set(values, this.#first(input))
  }

  run(): void {
    this.#checkAlive()
    const kernels = this.#runtime.kernels
    for (const state of this.#states) state.checkAlive()
    checkCapacity(this.#recording.label, this.#caches)
    for (const step of this.#steps) step(kernels)
  }

  async read(name: string): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    const tensor = readableTensor(this.#recording, name)
    const { rows, columns } = tensor
    const first = this.#first(tensor)
    return ndArray(this.#runtime.floats.slice(first, first + rows * columns), [rows, columns])
  }

  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    this.#runtime.free(this.#address)
  }

  #checkAlive(): void {
    if (this.#disposed) throw new KernelError('disposed', `plan ${this.#recording.label} was disposed`)
  }
}

/** The one state that an operation may have. */
const statesOf = (operation: Operation): State[] => {
  const state = 'state' in operation ? operation.state : 'cache' in operation ? operation.cache : undefined
  return state instanceof State ? [state] : []
}
