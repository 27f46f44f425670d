import { inputFor, KernelError, type Recording, readableTensor, type Tensor } from '@pocket/nn'
import { type Dispatch, dispatchOf } from './dispatches.ts'
import { fuse } from './fusion.ts'
import type { Gpu } from './gpu.ts'
import { Memory } from './memory.ts'
import type { Pipeline } from './pipelines.ts'
import type { Stretch } from './staging-pool.ts'
import { DeviceConvolutionState, DeviceKvCache, type GpuState } from './states.ts'

interface BoundDispatch {
  readonly dispatch: Dispatch
  readonly pipeline: Pipeline['pipeline']
  readonly group: GPUBindGroup
  /** Where its words begin within those of a run, in bytes; undefined where it has none. */
  readonly controlOffset: number | undefined
}

/** A recording with buffers and kernels: what plans and streams replay. */
export class BoundRecording {
  readonly recording: Recording
  /** The lanes of the states that the plan's own lanes stand for. */
  readonly lanes: readonly number[]
  /** Bytes of the words that the host gives a run. */
  readonly controlBytes: number
  readonly #gpu: Gpu
  readonly #memory: Memory
  readonly #dispatches: readonly Dispatch[]
  readonly #states: readonly GpuState[]
  readonly #ready: Promise<void>
  /** Those of the dispatches, once they are compiled. */
  #pipelines: readonly Pipeline[] | undefined
  #bound: readonly BoundDispatch[] | undefined
  #boundTo: GPUBuffer | undefined

  constructor(gpu: Gpu, recording: Recording, executorLanes: number, lanes: readonly number[]) {
    this.#gpu = gpu
    this.recording = recording
    this.lanes = lanes
    this.#states = statesOf(recording)
    this.#checkStates(executorLanes)
    const steps = fuse(recording)
    this.#memory = new Memory(gpu, recording, steps, lanes.length)
    const context = {
      lanes: lanes.length,
      capabilities: gpu.capabilities,
      place: (tensor: Tensor) => this.#memory.place(tensor),
    }
    this.#dispatches = steps.map((step) => dispatchOf(step, context))
    this.controlBytes = this.#dispatches.reduce((sum, { control }) => sum + (control?.bytes ?? 0), 0)
    this.#ready = Promise.all(this.#dispatches.map(({ kernel }) => gpu.pipelines.get(kernel.program))).then(
      (pipelines) => {
        this.#pipelines = pipelines
      },
    )
    this.#ready.catch(() => {})
  }

  /** Resolves when all pipelines are compiled; undefined once they are. */
  get ready(): Promise<void> | undefined {
    return this.#pipelines ? undefined : this.#ready
  }

  /** All that a run reads and writes, but for the words of the host. */
  *buffers(): Iterable<GPUBuffer> {
    for (const { resources } of this.#dispatches) {
      for (const { buffer } of Object.values(resources)) yield buffer
    }
  }

  get dispatchCount(): number {
    return this.#dispatches.length
  }

  /** Throws KernelError `disposed`, or `capacity` when a cache has no room for so many runs of the active lanes. */
  checkRuns(runs: number, active: readonly boolean[], lanes = this.lanes): void {
    for (const state of this.#states) state.checkAlive()
    const rows = new Map<DeviceKvCache, number>()
    for (const operation of this.recording.operations) {
      if (operation.kind !== 'attention' || operation.cache.window !== undefined) continue
      const cache = operation.cache as DeviceKvCache
      rows.set(cache, (rows.get(cache) ?? 0) + operation.qkv.rows)
    }
    for (const [cache, perRun] of rows) {
      lanes.forEach((lane, index) => {
        const position = cache.positionOf(lane)
        if (active[index] === false || position + perRun * runs <= cache.capacity) return
        throw new KernelError(
          'capacity',
          `plan ${this.recording.label}: ${position} + ${perRun * runs} positions, the KV cache was made for ${cache.capacity}`,
        )
      })
    }
  }

  /** The words of one run, written to `words` from byte `offset` on. The states advance: the run must follow. */
  fillControl(words: ArrayBuffer, offset: number, active: readonly boolean[], lanes = this.lanes): void {
    let at = offset
    for (const { control } of this.#dispatches) {
      if (!control) continue
      control.fill(new Uint32Array(words, at, control.bytes / 4), lanes, active)
      at += control.bytes
    }
  }

  /** Encodes one run, its words standing in `control` from byte `offset` on. All pipelines must be ready. */
  encode(pass: GPUComputePassEncoder, control: GPUBuffer | undefined, offset: number): void {
    let last: GPUComputePipeline | undefined
    for (const { dispatch, pipeline, group, controlOffset } of this.#bind(control)) {
      if (pipeline !== last) pass.setPipeline(pipeline)
      last = pipeline
      if (controlOffset === undefined) pass.setBindGroup(0, group)
      else pass.setBindGroup(0, group, [offset + controlOffset])
      pass.dispatchWorkgroups(...dispatch.kernel.groups)
    }
  }

  /** The same in a pass for each dispatch, which `passFor` begins: to time them. */
  encodeApart(
    passFor: (index: number, name: string) => GPUComputePassEncoder,
    control: GPUBuffer | undefined,
    offset: number,
  ): void {
    this.#bind(control).forEach(({ dispatch, pipeline, group, controlOffset }, index) => {
      const pass = passFor(index, dispatch.kernel.program.name)
      pass.setPipeline(pipeline)
      pass.setBindGroup(0, group, controlOffset === undefined ? [] : [offset + controlOffset])
      pass.dispatchWorkgroups(...dispatch.kernel.groups)
      pass.end()
    })
  }

  /** Refuses what `Plan.write` refuses. `values` fills `lanes` lanes of the input, each `[rows, columns]`. */
  inputTensor(name: string, values: Float32Array, lanes: number): Tensor {
    const perLane = values.length / lanes
    return inputFor(this.recording, name, Number.isInteger(perLane) ? values.subarray(0, perLane) : values)
  }

  /** Writes an input's values into lanes of the plan, from lane `first` on, in the queue's order. */
  writeInput(tensor: Tensor, values: Float32Array, first: number): void {
    const { buffer, laneStride, rows, columns } = this.#memory.place(tensor)
    const length = rows * columns
    for (let lane = 0; lane < values.length / length; lane++) {
      const part = values.subarray(lane * length, (lane + 1) * length)
      this.#gpu.write(buffer, (first + lane) * laneStride * 4, part)
    }
  }

  /** Where all lanes of an input or tap lie, each in whole vectors. */
  stretch(name: string): Stretch & { readonly tensor: Tensor; readonly laneStride: number } {
    const tensor = readableTensor(this.recording, name)
    const { buffer, laneStride } = this.#memory.place(tensor)
    return { buffer, offset: 0, bytes: this.lanes.length * laneStride * 4, tensor, laneStride }
  }

  dispose(): void {
    this.#memory.dispose()
  }

  #bind(control: GPUBuffer | undefined): readonly BoundDispatch[] {
    if (this.#bound && this.#boundTo === control) return this.#bound
    let offset = 0
    this.#boundTo = control
    this.#bound = this.#dispatches.map((dispatch, index) => {
      const { kernel, resources, control: block } = dispatch
      const compiled = this.#pipelines?.[index]
      if (!compiled) throw new Error(`${kernel.program.name} is not compiled`)
      const entries = kernel.program.bindings.map(({ name, access }, binding) => {
        if (access !== 'control') return { binding, resource: resourceOf(resources, name) }
        if (!control || !block) throw new Error(`${kernel.program.name} has no control block`)
        return { binding, resource: { buffer: control, size: block.bytes } }
      })
      const group = this.#gpu.device.createBindGroup({
        label: `${this.recording.label}: ${kernel.program.name}`,
        layout: compiled.layout,
        entries,
      })
      const controlOffset = block ? offset : undefined
      offset += block?.bytes ?? 0
      return { dispatch, pipeline: compiled.pipeline, group, controlOffset }
    })
    return this.#bound
  }

  #checkStates(executorLanes: number): void {
    for (const state of this.#states) {
      state.checkAlive()
      if (state.lanes === executorLanes) continue
      throw new KernelError(
        'shape',
        `plan ${this.recording.label}: a state of ${state.lanes} lanes in a plan for ${executorLanes}`,
      )
    }
  }
}

const resourceOf = (resources: Dispatch['resources'], name: string): GPUBufferBinding => {
  const resource = resources[name]
  if (!resource) throw new Error(`nothing is bound to ${name}`)
  return resource
}

const statesOf = ({ operations }: Recording): GpuState[] =>
  operations.flatMap((operation): GpuState[] => {
    if ('state' in operation && operation.state instanceof DeviceConvolutionState) return [operation.state]
    if ('cache' in operation && operation.cache instanceof DeviceKvCache) return [operation.cache]
    return []
  })

/** Values of all lanes, each padded to whole vectors, as `[lanes · rows, columns]` without the padding. */
export const withoutPadding = (
  values: Float32Array,
  { rows, columns }: Tensor,
  lanes: number,
  laneStride: number,
): Float32Array => {
  const length = rows * columns
  if (laneStride === length) return values.slice(0, lanes * length)
  const result = new Float32Array(lanes * length)
  for (let lane = 0; lane < lanes; lane++) {
    result.set(values.subarray(lane * laneStride, lane * laneStride + length), lane * length)
  }
  return result
}
