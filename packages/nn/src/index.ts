export { type NdArray, rowMajor as ndArray } from '@pocket/safetensors'
export {
  Checkpoint,
  type CheckpointOptions,
  type CheckpointProblem,
  type WeightReader,
} from './checkpoint.ts'
export {
  type ConvolutionRows,
  convolutionRows,
  filtersByStep,
  repeatedBias,
  transposedConvolutionRows,
} from './convolution-weights.ts'
export { KernelError, type KernelErrorCode } from './errors.ts'
export { nextTurn } from './event-loop.ts'
export { greatestMagnitude, leastMagnitude, nearestInteger } from './integers.ts'
export type { Kernels, Plan, PlanOptions } from './kernels.ts'
export { type Layout, layOut } from './layout.ts'
export { type Activation, type Norm, type Operation, operands } from './operation.ts'
export { Operations } from './operations.ts'
export {
  checkCapacity,
  inputFor,
  linearCaches,
  readableNames,
  readableTensor,
} from './plan-checks.ts'
export { type Recording, record } from './recording.ts'
export { fillRotations, rotaryFrequencies } from './rotary.ts'
export { checkConvolution, checkMatrix, checkTransposedConvolution } from './source-checks.ts'
export { checkContinued, checkKvCache, checkLoad, checkRead } from './state-checks.ts'
export {
  type ConvolutionState,
  historyRows,
  type KvCache,
  type KvCacheLane,
  type KvCacheOptions,
} from './states.ts'
export { bytesPerWeight, widenedWeight, withoutF16 } from './stored-weight.ts'
export { isTensor, type Tensor } from './tensor.ts'
export {
  loadTransformer,
  type TransformerLayer,
  transformerAttention,
  transformerLayer,
  transformerLayerEnd,
  transformerNormEps,
} from './transformer.ts'
export type {
  Convolution,
  ConvolutionSource,
  Matrix,
  MatrixSource,
  Precision,
  StoredWeight,
  TransposedConvolution,
  TransposedConvolutionSource,
  Vector,
  WeightDtype,
} from './weights.ts'
