import {
  KernelError,
  type NdArray,
  ndArray,
  type Plan,
  type PlanOptions,
  type Recording,
  readableNames,
} from '@pocket/nn'
import { BoundRecording, withoutPadding } from './bound-recording.ts'
import type { Gpu } from './gpu.ts'
import { type DispatchTime, timeDispatches } from './timing.ts'

/** A recording on the device. With several lanes inputs and taps are `[lanes · rows, columns]`. */
export interface GpuPlan extends Plan {
  /** Dispatches of one run. */
  readonly dispatches: number
  /** Resolves when all kernels are compiled. Runs before that wait for it, in order, without holding up the caller. */
  ready(): Promise<void>
  /**
   * One run with each dispatch timed by the device, in microseconds; several passes instead of one, so the sum is more
   * than a run takes. Throws KernelError `unavailable` where the device has no timestamps.
   */
  profile(): Promise<DispatchTime[]>
}

export class DevicePlan implements GpuPlan {
  readonly #gpu: Gpu
  readonly #bound: BoundRecording
  readonly #control: GPUBuffer | undefined
  readonly #everyone: readonly boolean[]
  readonly #executorLanes: number
  #failure: unknown
  #disposed = false

  constructor(gpu: Gpu, recording: Recording, executorLanes: number, lanes: readonly number[]) {
    this.#gpu = gpu
    this.#bound = new BoundRecording(gpu, recording, executorLanes, lanes)
    this.#everyone = lanes.map(() => true)
    this.#executorLanes = executorLanes
    const { controlBytes } = this.#bound
    this.#control = controlBytes > 0 ? gpu.storage(`${recording.label}: control`, controlBytes) : undefined
  }

  get taps(): readonly string[] {
    return readableNames(this.#bound.recording)
  }

  get dispatches(): number {
    return this.#bound.dispatchCount
  }

  async ready(): Promise<void> {
    await this.#bound.ready
  }

  write(name: string, values: Float32Array): void {
    this.#checkAlive()
    const tensor = this.#bound.inputTensor(name, values, this.#bound.lanes.length)
    // The caller may change its array while the write still waits for kernels.
    const copy = values.slice()
    this.#enqueue(undefined, () => this.#bound.writeInput(tensor, copy, 0))
  }

  /** Every run goes on by itself until it is read. */
  start(): void {
    this.run()
  }

  run({ lane }: PlanOptions = {}): void {
    const control = this.#prepareRun(lane === undefined ? this.#bound.lanes : this.#only(lane))
    this.#enqueue(this.#bound.ready, () => {
      this.#writeControl(control)
      const { label } = this.#bound.recording
      const encoder = this.#gpu.device.createCommandEncoder({ label })
      const pass = encoder.beginComputePass({ label })
      this.#bound.encode(pass, this.#control, 0)
      pass.end()
      this.#gpu.device.queue.submit([encoder.finish()])
    })
  }

  async read(name: string): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    const stretch = this.#bound.stretch(name)
    const [values = new Float32Array()] = await this.#gpu.read([stretch])
    if (this.#failure !== undefined) throw this.#failure
    await this.#gpu.checkMemory(this.#buffers())
    const { tensor, laneStride } = stretch
    const lanes = this.#bound.lanes.length
    return ndArray(withoutPadding(values, tensor, lanes, laneStride), [lanes * tensor.rows, tensor.columns])
  }

  async profile(): Promise<DispatchTime[]> {
    const control = this.#prepareRun()
    await this.#bound.ready
    await this.#gpu.timeline.drained()
    return timeDispatches(this.#gpu, this.#bound, this.#control, () => this.#writeControl(control))
  }

  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    this.#enqueue(undefined, () => {
      this.#bound.dispose()
      if (this.#control) this.#gpu.free(this.#control)
    })
  }

  /** Checks that a run can be, and gives the words for it. */
  #prepareRun(lanes = this.#bound.lanes): ArrayBuffer {
    this.#checkAlive()
    this.#bound.checkRuns(1, this.#everyone, lanes)
    const words = new ArrayBuffer(this.#bound.controlBytes)
    this.#bound.fillControl(words, 0, this.#everyone, lanes)
    return words
  }

  /** Which lane a run is in stands in its words only: a plan for one lane runs in any. */
  #only(lane: number): readonly number[] {
    const isOne = Number.isInteger(lane) && lane >= 0 && lane < this.#executorLanes
    if (isOne && this.#bound.lanes.length === 1) return [lane]
    throw new KernelError(
      'shape',
      `plan ${this.#bound.recording.label} for ${this.#bound.lanes.length} of ${this.#executorLanes} lanes: lane ${lane}`,
    )
  }

  #writeControl(words: ArrayBuffer): void {
    if (this.#control) this.#gpu.write(this.#control, 0, new Uint8Array(words))
  }

  /** What fails when its turn comes is told by the next read. */
  #enqueue(ready: Promise<void> | undefined, job: () => void): void {
    this.#gpu.timeline.enqueue(ready, job).catch((error: unknown) => {
      this.#failure ??= error
    })
  }

  *#buffers(): Iterable<GPUBuffer> {
    yield* this.#bound.buffers()
    if (this.#control) yield this.#control
  }

  #checkAlive(): void {
    this.#gpu.checkAlive()
    if (this.#disposed) throw new KernelError('disposed', `plan ${this.#bound.recording.label} was disposed`)
  }
}
