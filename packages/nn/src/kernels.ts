import type { NdArray } from '@pocket/safetensors'
import type { Recording } from './recording.ts'
import type { ConvolutionState, KvCache, KvCacheOptions } from './states.ts'
import type {
  Convolution,
  ConvolutionSource,
  Matrix,
  MatrixSource,
  TransposedConvolution,
  TransposedConvolutionSource,
  Vector,
} from './weights.ts'

/**
 * An executor: keeps weights and states in its own memory and runs recorded plans.
 *
 * It is not a tensor library. It knows the operations of `Operation` and nothing of networks, text or audio;
 * shapes have been checked when a recording reaches it. Handles of one executor mean nothing to another.
 * Plans of one executor run one after another, in the order of the calls, but for what `Plan.start` says.
 */
export interface Kernels {
  /** Which executor this is, for people: `scalar`, `wasm-simd`, `wasm-relaxed`, … */
  readonly name: string
  vector(values: Float32Array): Vector
  /** The source's bytes are read during the call and not kept. */
  matrix(source: MatrixSource): Matrix
  convolution(source: ConvolutionSource): Convolution
  transposedConvolution(source: TransposedConvolutionSource): TransposedConvolution
  convolutionState(weights: Convolution | TransposedConvolution): ConvolutionState
  kvCache(options: KvCacheOptions): KvCache
  /** Readies a recording: memory is laid out and everything bound now, so that `run` allocates nothing. */
  plan(recording: Recording, options?: PlanOptions): Plan
  /** Gives all memory back; every handle and plan is dead afterwards. */
  dispose(): void
}

export interface PlanOptions {
  /** On executors whose states have lanes: the one that the plan is for. Default: all of them. */
  readonly lane?: number
}

/** A recording bound to memory. Inputs and taps keep their values from run to run. */
export interface Plan {
  /** Sets the input `name`, row-major. Throws KernelError `unknown-name` or `shape`. */
  write(name: string, values: Float32Array): void
  /**
   * Runs every operation in order and advances the states that they use: of a plan made for one lane, in that one or in
   * the one given. Throws KernelError `capacity` before any work.
   */
  run(options?: PlanOptions): void
  /**
   * Begins a run that may go on while other plans run, if they use other states. What is done next with this plan or a
   * state of it waits for the end: `read` above all. An executor with one thread runs it at once. Throws as `run` does.
   */
  start(): void
  /** A copy of the tap (or input) `name` after the last run: `[rows, columns]`. Throws KernelError `unknown-name`. */
  read(name: string): Promise<NdArray<Float32Array>>
  /** The names `read` knows. */
  readonly taps: readonly string[]
  dispose(): void
}
