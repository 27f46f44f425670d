import { KernelError, type Recording } from '@pocket/nn'
import { BoundRecording, withoutPadding } from './bound-recording.ts'
import type { Gpu } from './gpu.ts'
import { roomFor } from './staging-pool.ts'
import { type DispatchTime, timeDispatches } from './timing.ts'

export interface GpuStreamOptions {
  /** After each run an input is given a tap's values, on the device: `{ latent: 'next' }`, the input first. */
  readonly feedback?: Readonly<Record<string, string>>
  /** Inputs that every run is given anew. The others keep what `write` or the feedback put there. */
  readonly inputs: readonly string[]
  /** Taps that every run gives back. */
  readonly outputs: readonly string[]
}

export interface SubmitOptions {
  /** Which lanes take part; one at rest keeps its states and what it was fed, and its outputs mean
   * nothing. Default: all. */
  readonly active?: readonly boolean[]
}

/** A recording replayed run after run without waiting for the device. */
export interface GpuStream {
  /** Dispatches of one run. */
  readonly dispatches: number
  /** Resolves when all kernels are compiled. */
  ready(): Promise<void>
  /**
   * Encodes `rows.length` runs into one submission and returns at once; resolves with the outputs of each run, in order.
   * Several submissions may be under way. `rows[i]` holds what `inputs` names, `[lanes, rows, columns]` each, and so do
   * the results for `outputs`. Throws KernelError `shape`, `unknown-name`, `capacity`, `disposed` or, of more than a buffer
   * holds, `out-of-memory` before any work; `out-of-memory` later where the device had none for what the stream uses.
   */
  submit(
    rows: readonly Readonly<Record<string, Float32Array>>[],
    options?: SubmitOptions,
  ): Promise<Record<string, Float32Array>[]>
  /**
   * One run with each dispatch timed by the device, in microseconds; the inputs keep what they hold, and the states
   * advance. Throws KernelError `unavailable` where the device has no timestamps.
   */
  profile(): Promise<DispatchTime[]>
  /** Sets an input of the runs to come: in all lanes, or in one. */
  write(name: string, values: Float32Array, lane?: number): void
  dispose(): void
}

interface Feedback {
  readonly from: GPUBuffer
  readonly to: GPUBuffer
  /** Of one lane. */
  readonly bytes: number
}

interface Input {
  readonly name: string
  readonly buffer: GPUBuffer
  /** Values of a lane, and of a lane in whole vectors. */
  readonly length: number
  readonly laneStride: number
  /** Where its values begin among those of a run's inputs, in bytes, and how many bytes they are. */
  readonly offset: number
  readonly bytes: number
}

type Output = ReturnType<BoundRecording['stretch']> & { readonly name: string }

export class DeviceStream implements GpuStream {
  readonly #gpu: Gpu
  readonly #bound: BoundRecording
  readonly #feedback: readonly Feedback[]
  readonly #inputs: readonly Input[]
  readonly #inputBytes: number
  readonly #outputs: readonly Output[]
  readonly #outputBytes: number
  /** What a submission is given: the words of all its runs, then the inputs of all its runs. Grows to the longest. */
  #upload: GPUBuffer | undefined
  #disposed = false

  constructor(gpu: Gpu, recording: Recording, lanes: number, options: GpuStreamOptions) {
    const { feedback = {}, inputs, outputs } = options
    this.#gpu = gpu
    this.#bound = new BoundRecording(
      gpu,
      recording,
      lanes,
      Array.from({ length: lanes }, (_, lane) => lane),
    )
    let bytes = 0
    this.#inputs = inputs.map((name) => {
      const input = inputOf(this.#bound, name, bytes)
      bytes += input.bytes
      return input
    })
    this.#inputBytes = bytes
    this.#outputs = outputs.map((name) => ({ ...this.#bound.stretch(name), name }))
    this.#outputBytes = this.#outputs.reduce((sum, output) => sum + output.bytes, 0)
    this.#feedback = Object.entries(feedback).map(([to, from]) => feedbackOf(this.#bound, from, to))
  }

  get dispatches(): number {
    return this.#bound.dispatchCount
  }

  async ready(): Promise<void> {
    await this.#bound.ready
  }

  async submit(
    rows: readonly Readonly<Record<string, Float32Array>>[],
    { active = this.#bound.lanes.map(() => true) }: SubmitOptions = {},
  ): Promise<Record<string, Float32Array>[]> {
    this.#checkAlive()
    if (rows.length === 0) return []
    this.#checkRows(rows)
    this.#bound.checkRuns(rows.length, active)
    const { lanes, recording, controlBytes } = this.#bound
    const bytes = rows.length * this.#outputBytes
    const what = `${recording.label}: ${rows.length} runs`
    this.#gpu.checkSize(what, roomFor(bytes))
    this.#gpu.checkSize(what, roomFor(rows.length * (controlBytes + this.#inputBytes)))
    const data = this.#fill(rows, active)
    const staging = await this.#gpu.timeline.enqueue(this.#bound.ready, () =>
      this.#gpu.staging.fill(bytes, (staging) => this.#encode(data, rows.length, active, staging)),
    )
    const values = new Float32Array(await this.#gpu.staging.collect(staging, bytes))
    await this.#gpu.checkMemory(this.#buffers()).catch((error: unknown) => {
      // It may be the one that is not there: the next submission asks for another.
      this.#freeUpload()
      throw error
    })
    let from = 0
    return rows.map(() => {
      const results: Record<string, Float32Array> = {}
      for (const { name, tensor, laneStride, bytes } of this.#outputs) {
        const part = values.subarray(from, from + bytes / 4)
        results[name] = withoutPadding(part, tensor, lanes.length, laneStride)
        from += bytes / 4
      }
      return results
    })
  }

  async profile(): Promise<DispatchTime[]> {
    this.#checkAlive()
    const everyone = this.#bound.lanes.map(() => true)
    this.#bound.checkRuns(1, everyone)
    const words = new ArrayBuffer(this.#bound.controlBytes)
    this.#bound.fillControl(words, 0, everyone)
    await this.#bound.ready
    await this.#gpu.timeline.drained()
    const upload = this.#uploadOf(words.byteLength)
    return timeDispatches(this.#gpu, this.#bound, upload, () =>
      this.#gpu.write(upload, 0, new Uint8Array(words)),
    )
  }

  write(name: string, values: Float32Array, lane?: number): void {
    this.#checkAlive()
    const { lanes } = this.#bound
    if (lane !== undefined && !lanes.includes(lane)) {
      throw new KernelError('shape', `stream ${this.#bound.recording.label}: lane ${lane} of ${lanes.length}`)
    }
    const tensor = this.#bound.inputTensor(name, values, lane === undefined ? lanes.length : 1)
    const copy = values.slice()
    const written = this.#gpu.timeline.enqueue(undefined, () =>
      this.#bound.writeInput(tensor, copy, lane ?? 0),
    )
    // The submission behind it fails in the same way, and tells.
    written.catch(() => {})
  }

  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    this.#gpu.timeline.enqueue(undefined, () => {
      this.#bound.dispose()
      this.#freeUpload()
    })
  }

  #checkRows(rows: readonly Readonly<Record<string, Float32Array>>[]): void {
    const { label } = this.#bound.recording
    rows.forEach((row, run) => {
      for (const { name, length } of this.#inputs) {
        const expected = length * this.#bound.lanes.length
        if (row[name]?.length === expected) continue
        throw new KernelError(
          'shape',
          `stream ${label}, run ${run}: input ${name} takes ${expected} values, got ${row[name]?.length ?? 'none'}`,
        )
      }
      for (const name of Object.keys(row)) {
        if (this.#inputs.some((input) => input.name === name)) continue
        throw new KernelError(
          'unknown-name',
          `stream ${label}, run ${run}: no input ${name} goes with each run`,
        )
      }
    })
  }

  /** Words and inputs of all runs; the states advance. */
  #fill(rows: readonly Readonly<Record<string, Float32Array>>[], active: readonly boolean[]): ArrayBuffer {
    const { controlBytes } = this.#bound
    const data = new ArrayBuffer(rows.length * (controlBytes + this.#inputBytes))
    rows.forEach((row, run) => {
      this.#bound.fillControl(data, run * controlBytes, active)
      for (const { name, length, laneStride, offset } of this.#inputs) {
        const values = row[name] ?? new Float32Array()
        const first = rows.length * controlBytes + run * this.#inputBytes + offset
        const to = new Float32Array(data, first, this.#bound.lanes.length * laneStride)
        for (let lane = 0; lane < this.#bound.lanes.length; lane++) {
          to.set(values.subarray(lane * length, (lane + 1) * length), lane * laneStride)
        }
      }
    })
    return data
  }

  #encode(data: ArrayBuffer, runs: number, active: readonly boolean[], staging: GPUBuffer): void {
    const { recording, controlBytes } = this.#bound
    const { device } = this.#gpu
    const { label } = recording
    const upload = this.#uploadOf(data.byteLength)
    if (data.byteLength > 0) this.#gpu.write(upload, 0, new Uint8Array(data))
    const encoder = device.createCommandEncoder({ label })
    let to = 0
    for (let run = 0; run < runs; run++) {
      for (const { buffer, offset, bytes } of this.#inputs) {
        const from = runs * controlBytes + run * this.#inputBytes + offset
        encoder.copyBufferToBuffer(upload, from, buffer, 0, bytes)
      }
      const pass = encoder.beginComputePass({ label })
      this.#bound.encode(pass, upload, run * controlBytes)
      pass.end()
      for (const feedback of this.#feedback) copyFeedback(encoder, feedback, active)
      for (const { buffer, bytes } of this.#outputs) {
        encoder.copyBufferToBuffer(buffer, 0, staging, to, bytes)
        to += bytes
      }
    }
    device.queue.submit([encoder.finish()])
  }

  /** The buffer for `bytes` bytes: one for all submissions, since what it held is read before the next is written. */
  #uploadOf(bytes: number): GPUBuffer {
    if (this.#upload && this.#upload.size >= bytes) return this.#upload
    this.#freeUpload()
    const label = `${this.#bound.recording.label}: upload`
    this.#upload = this.#gpu.storage(label, roomFor(bytes))
    return this.#upload
  }

  #freeUpload(): void {
    if (this.#upload) this.#gpu.free(this.#upload)
    this.#upload = undefined
  }

  *#buffers(): Iterable<GPUBuffer> {
    yield* this.#bound.buffers()
    if (this.#upload) yield this.#upload
  }

  #checkAlive(): void {
    this.#gpu.checkAlive()
    if (this.#disposed)
      throw new KernelError('disposed', `stream ${this.#bound.recording.label} was disposed`)
  }
}

const inputOf = (bound: BoundRecording, name: string, offset: number): Input => {
  const tensor = bound.recording.inputs.get(name)
  if (!tensor) throw unknownInput(bound.recording, name)
  const { buffer, laneStride, bytes } = bound.stretch(name)
  return { name, buffer, length: tensor.rows * tensor.columns, laneStride, offset, bytes }
}

const feedbackOf = (bound: BoundRecording, from: string, to: string): Feedback => {
  const { label, inputs } = bound.recording
  if (!inputs.has(to)) throw unknownInput(bound.recording, to)
  const [source, target] = [bound.stretch(from), bound.stretch(to)]
  const shape = ({ tensor }: typeof source): string => `[${tensor.rows}, ${tensor.columns}]`
  if (shape(source) !== shape(target)) {
    throw new KernelError(
      'shape',
      `stream ${label}: ${from} is ${shape(source)}, but ${to}, which it is fed to, ${shape(target)}`,
    )
  }
  return { from: source.buffer, to: target.buffer, bytes: source.laneStride * 4 }
}

/** A lane at rest keeps its input as it keeps its states: it goes on from there. */
const copyFeedback = (
  encoder: GPUCommandEncoder,
  { from, to, bytes }: Feedback,
  active: readonly boolean[],
): void => {
  active.forEach((isActive, lane) => {
    if (isActive) encoder.copyBufferToBuffer(from, lane * bytes, to, lane * bytes, bytes)
  })
}

const unknownInput = ({ label, inputs }: Recording, name: string): KernelError =>
  new KernelError(
    'unknown-name',
    `stream ${label} has no input ${name}; it has ${[...inputs.keys()].join(', ')}`,
  )
