import {
  type Convolution,
  historyRows,
  type Kernels,
  type KvCacheOptions,
  type Plan,
  type Recording,
  type TransposedConvolution,
} from '@pocket/nn'
import { ScalarPlan } from './plan.ts'
import { ScalarConvolutionState, ScalarKvCache } from './states.ts'
import { type ScalarVector, scalarConvolution, scalarMatrix, scalarTransposedConvolution } from './weights.ts'

/** The oracle: plain TypeScript, slow, obviously right. Runs wherever nothing faster does. */
export class ScalarKernels implements Kernels {
  readonly name = 'scalar'
  readonly matrix = scalarMatrix
  readonly convolution = scalarConvolution
  readonly transposedConvolution = scalarTransposedConvolution

  vector(values: Float32Array): ScalarVector {
    return { length: values.length, values: values.slice() }
  }

  convolutionState(weights: Convolution | TransposedConvolution): ScalarConvolutionState {
    return new ScalarConvolutionState(historyRows(weights), weights.inputChannels)
  }

  kvCache(options: KvCacheOptions): ScalarKvCache {
    return new ScalarKvCache(options)
  }

  plan(recording: Recording): Plan {
    return new ScalarPlan(recording)
  }

  dispose(): void {}
}
