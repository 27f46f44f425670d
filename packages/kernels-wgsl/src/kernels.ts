import {
  type Convolution,
  type ConvolutionSource,
  historyRows,
  KernelError,
  type Kernels,
  type KvCacheOptions,
  type MatrixSource,
  type Recording,
  type TransposedConvolution,
  type TransposedConvolutionSource,
} from '@pocket/nn'
import type { Tuning } from './capabilities.ts'
import type { GpuDevice } from './device-types.ts'
import type { Gpu } from './gpu.ts'
import { DevicePlan, type GpuPlan } from './plan.ts'
import { DeviceConvolutionState, DeviceKvCache, type GpuConvolutionState, type GpuKvCache } from './states.ts'
import { DeviceStream, type GpuStream, type GpuStreamOptions } from './stream.ts'
import { type TuneOptions, type TuningReport, type TuningTrial, tune } from './tune.ts'
import {
  type GpuConvolution,
  type GpuMatrix,
  type GpuTransposedConvolution,
  type GpuVector,
  gpuConvolution,
  gpuMatrix,
  gpuTransposedConvolution,
  gpuVector,
} from './weights.ts'

export interface PlanOptions {
  /** Plans for one lane of the states only, such as the prompt of an utterance that joins others. Default: all lanes. */
  readonly lane?: number
}

/** An executor on a GPU. */
export interface GpuKernels extends Kernels {
  readonly device: GpuDevice
  /** Whether a processor stands for the GPU, which is slower than computing on the processor without one. */
  readonly isSoftware: boolean
  /** Streams that run side by side and share each reading of a weight. Every state has a lane for each. */
  readonly lanes: number
  /** Bytes on the device in use by weights, states and plans. */
  readonly bytes: number
  convolutionState(weights: Convolution | TransposedConvolution): GpuConvolutionState
  kvCache(options: KvCacheOptions): GpuKvCache
  plan(recording: Recording, options?: PlanOptions): GpuPlan
  /** A recording replayed run after run on the device, in all lanes. */
  stream(recording: Recording, options: GpuStreamOptions): GpuStream
  /** The same device and weights with another number of lanes for states, plans and streams to come. */
  withLanes(lanes: number): GpuKernels
  /** How work is cut for plans and streams to come, on this device: also those of `withLanes`. */
  readonly tuning: Tuning
  /** Cuts otherwise what is made from now on. Throws KernelError `shape` for what no kernel can be made for. */
  retune(change: Partial<Tuning>): void
  /**
   * Times cuts of the work on runs of `open`, which makes a plan or stream as it is meant to be used, and from then on
   * cuts as the fastest did. What has been made before keeps its cut. Throws what `open` and its runs throw.
   */
  tune(open: () => TuningTrial, options?: TuneOptions): Promise<TuningReport>
  /** Resolves when all kernels asked for so far are compiled; tells how far that is. */
  ready(onProgress?: (progress: { done: number; total: number }) => void): Promise<void>
}

export class DeviceKernels implements GpuKernels {
  readonly lanes: number
  readonly #gpu: Gpu

  constructor(gpu: Gpu, lanes: number) {
    if (!Number.isSafeInteger(lanes) || lanes < 1) {
      throw new KernelError('shape', `lanes: ${lanes}, expected a whole number from 1 on`)
    }
    this.#gpu = gpu
    this.lanes = lanes
  }

  get isSoftware(): boolean {
    return this.#gpu.capabilities.isSoftware
  }

  get name(): string {
    return this.tuning.subgroups ? 'webgpu-subgroups' : 'webgpu'
  }

  get tuning(): Tuning {
    return this.#gpu.capabilities.tuning
  }

  get device(): GPUDevice {
    return this.#gpu.device
  }

  get bytes(): number {
    return this.#gpu.bytes
  }

  vector(values: Float32Array): GpuVector {
    return this.#whole(() => gpuVector(this.#gpu, values))
  }

  matrix(source: MatrixSource): GpuMatrix {
    return this.#whole(() => gpuMatrix(this.#gpu, source))
  }

  convolution(source: ConvolutionSource): GpuConvolution {
    return this.#whole(() => gpuConvolution(this.#gpu, source))
  }

  transposedConvolution(source: TransposedConvolutionSource): GpuTransposedConvolution {
    return this.#whole(() => gpuTransposedConvolution(this.#gpu, source))
  }

  convolutionState(weights: Convolution | TransposedConvolution): DeviceConvolutionState {
    return this.#whole(
      () => new DeviceConvolutionState(this.#gpu, this.lanes, historyRows(weights), weights.inputChannels),
    )
  }

  kvCache(options: KvCacheOptions): DeviceKvCache {
    return this.#whole(() => new DeviceKvCache(this.#gpu, this.lanes, options))
  }

  plan(recording: Recording, { lane }: PlanOptions = {}): DevicePlan {
    const all = Array.from({ length: this.lanes }, (_, index) => index)
    if (lane !== undefined && !all.includes(lane))
      throw new KernelError('shape', `plan ${recording.label}: lane ${lane} of ${this.lanes}`)
    const lanes = lane === undefined ? all : [lane]
    return this.#whole(() => new DevicePlan(this.#gpu, recording, this.lanes, lanes))
  }

  stream(recording: Recording, options: GpuStreamOptions): DeviceStream {
    return this.#whole(() => new DeviceStream(this.#gpu, recording, this.lanes, options))
  }

  withLanes(lanes: number): DeviceKernels {
    return new DeviceKernels(this.#gpu, lanes)
  }

  retune(change: Partial<Tuning>): void {
    this.#gpu.retune(change)
  }

  tune(open: () => TuningTrial, options?: TuneOptions): Promise<TuningReport> {
    return tune(this.#gpu, open, options)
  }

  ready(onProgress?: (progress: { done: number; total: number }) => void): Promise<void> {
    return this.#gpu.pipelines.ready(onProgress)
  }

  dispose(): void {
    this.#gpu.dispose()
  }

  #whole<T>(make: () => T): T {
    return this.#gpu.whole(make)
  }
}
