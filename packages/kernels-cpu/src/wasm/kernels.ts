import {
  type ConvolutionSource,
  historyRows,
  type Kernels,
  type KvCacheOptions,
  type MatrixSource,
  type Recording,
  type TransposedConvolutionSource,
} from '@pocket/nn'
import { WasmPlan } from './plan.ts'
import type { Runtime } from './runtime.ts'
import { WasmConvolutionState, WasmKvCache } from './states.ts'
import {
  type WasmConvolution,
  type WasmMatrix,
  type WasmTransposedConvolution,
  type WasmVector,
  wasmConvolution,
  wasmMatrix,
  wasmTransposedConvolution,
  wasmVector,
} from './weights.ts'

/** The WebAssembly executor: one memory, one build of the kernels, one or more threads. */
export class WasmKernels implements Kernels {
  readonly name: string
  readonly #runtime: Runtime

  constructor(name: string, runtime: Runtime) {
    this.name = name
    this.#runtime = runtime
  }

  vector(values: Float32Array): WasmVector {
    return wasmVector(this.#runtime, values)
  }

  matrix(source: MatrixSource): WasmMatrix {
    return wasmMatrix(this.#runtime, source)
  }

  convolution(source: ConvolutionSource): WasmConvolution {
    return wasmConvolution(this.#runtime, source)
  }

  transposedConvolution(source: TransposedConvolutionSource): WasmTransposedConvolution {
    return wasmTransposedConvolution(this.#runtime, source)
  }

  convolutionState(weights: WasmConvolution | WasmTransposedConvolution): WasmConvolutionState {
    return new WasmConvolutionState(this.#runtime, historyRows(weights), weights.inputChannels)
  }

  kvCache(options: KvCacheOptions): WasmKvCache {
    return new WasmKvCache(this.#runtime, options)
  }

  get threads(): number {
    return this.#runtime.threads
  }

  plan(recording: Recording): WasmPlan {
    return new WasmPlan(this.#runtime, recording)
  }

  dispose(): void {
    this.#runtime.dispose()
  }
}
