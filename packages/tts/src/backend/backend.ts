import type { FlowLm } from '@pocket/flowlm'
import type { CpuKernels } from '@pocket/kernels-cpu'
import type { MimiCodec } from '@pocket/mimi'
import type { FrameSource } from '../generate/frame-source.ts'
import type { NetworkFiles } from './networks.ts'
import type { GpuTuning } from './tune-gpu.ts'

export type BackendName = 'cpu' | 'hybrid' | 'gpu'

/** What computes, and how that came about. */
export interface BackendReport {
  /** `cpu`: both networks; `hybrid`: language model on the CPU, codec on the GPU; `gpu`: both networks. */
  readonly name: BackendName
  /** Level of the CPU kernels in use, where the CPU computes. */
  readonly simd?: CpuKernels['simd']
  /** The GPU that is used, or that was tried, in its driver's words. */
  readonly adapter?: string
  /** WebGPU features of it that the kernels may use. */
  readonly features?: readonly string[]
  /** How work is cut for the GPU that is used: what `gpuTuning` pins. */
  readonly tuning?: GpuTuning
  /** Why `auto` stays with the CPU, wholly or for the language model. */
  readonly reason?: string
  /** Milliseconds a frame took when they were measured, which is where a GPU was tried. */
  readonly frameMs?: Partial<Record<BackendName, number>>
}

/** Both networks of a model on the executors that a backend has for them. */
export interface Backend {
  readonly report: BackendReport
  readonly flowLm: FlowLm
  readonly codec: MimiCodec
  /** Threads of the CPU kernels in use, 1 where there are none. */
  readonly threads: number
  /** Positions of a chunk (voice, text and frames) where the backend has set a bound of its own. */
  readonly maxPositions?: number
  /** Chunks that it makes side by side, where there is more than one. */
  readonly lanes?: number
  /** What speaks one utterance. */
  createSource(): FrameSource
  /** Resolves when the GPU that it computes on is gone; absent where there is none. */
  readonly lost?: Promise<unknown>
  /**
   * Makes another after such a loss, of the same weights. Under `auto` that is one on the CPU where no GPU can be had
   * any more. Absent where nothing can be lost.
   */
  readonly remake?: (files: NetworkFiles) => Promise<Backend>
  /** Gives all memory back; sources are dead afterwards. */
  dispose(): void
}
