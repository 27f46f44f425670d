import {
  checkCapacity,
  inputFor,
  KernelError,
  layOut,
  linearCaches,
  type NdArray,
  ndArray,
  type Plan,
  type Recording,
  readableNames,
  readableTensor,
  type Tensor,
} from '@pocket/nn'
import { type MatrixView, matrixView } from './matrix-view.ts'
import { runOperation } from './operations.ts'

export class ScalarPlan implements Plan {
  readonly #recording: Recording
  readonly #view: (tensor: Tensor) => MatrixView
  readonly #caches: ReturnType<typeof linearCaches>
  #disposed = false

  constructor(recording: Recording) {
    this.#recording = recording
    this.#caches = linearCaches(recording)
    const layout = layOut(recording)
    const memory = new Float32Array(layout.length)
    this.#view = (tensor) => matrixView(memory, layout, tensor)
  }

  get taps(): readonly string[] {
    return readableNames(this.#recording)
  }

  write(name: string, values: Float32Array): void {
    this.#checkAlive()
    const input = inputFor(this.#recording, name, values)
    const { data, offset } = this.#view(input)
    data.set(values, offset)
  }

  start(): void {
    this.run()
  }

  run(): void {
    this.#checkAlive()
    checkCapacity(this.#recording.label, this.#caches)
    for (const operation of this.#recording.operations) runOperation(operation, this.#view)
  }

  async read(name: string): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    const tensor = readableTensor(this.#recording, name)
    const { data, offset, rows, columns } = this.#view(tensor)
    return ndArray(data.slice(offset, offset + rows * columns), [rows, columns])
  }

  dispose(): void {
    this.#disposed = true
  }

  #checkAlive(): void {
    if (this.#disposed) throw new KernelError('disposed', `plan ${this.#recording.label} was disposed`)
  }
}
