/**
 * Handles to immutable weights. An executor makes them, keeps its own packed form behind them and
 * never shows it; a network holds them and passes them to operations.
 */

declare const owner: unique symbol

/** Values of one feature vector: a norm's scale, a bias, a LayerScale. */
export interface Vector {
  readonly [owner]?: 'vector'
  readonly length: number
}

/** A linear layer `y = W x + b`, W being `[outputs, inputs]`. */
export interface Matrix {
  readonly [owner]?: 'matrix'
  readonly outputs: number
  readonly inputs: number
}

/** A causal convolution over time, channels mixed (no groups). */
export interface Convolution {
  readonly [owner]?: 'convolution'
  readonly inputChannels: number
  readonly outputChannels: number
  readonly kernel: number
  readonly stride: number
  readonly dilation: number
  /** What stands before the first input: zeros, or copies of the first input row. */
  readonly padding: 'zero' | 'replicate'
}

/**
 * A causal transposed convolution over time. Its kernel is a whole multiple of its stride, so that an
 * output row depends on `kernel / stride` input rows: the newest and the ones before it.
 */
export interface TransposedConvolution {
  readonly [owner]?: 'transposed-convolution'
  readonly inputChannels: number
  readonly outputChannels: number
  readonly kernel: number
  readonly stride: number
  /** True when every channel is filtered on its own (groups = channels). */
  readonly depthwise: boolean
}

/** What executors take weights in. */
export type WeightDtype = 'F32' | 'BF16' | 'F16'

/** A weight as a checkpoint stores it: little-endian values, row-major in `shape`. */
export interface StoredWeight<Dtype extends WeightDtype = WeightDtype> {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly bytes: Uint8Array
}

/**
 * How an executor keeps a weight: as stored, widened, rounded, or as integers with a scale for each output. Integers are
 * multiplied by rows of x that are quantised as a run comes to them, a scale for each row.
 */
export type Precision = 'stored' | 'f32' | 'bf16' | 'int8' | 'int16'

export interface MatrixSource {
  /** `[outputs, inputs]` */
  readonly weight: StoredWeight
  /** `[outputs]` */
  readonly bias?: Float32Array
  /** Default `stored`. */
  readonly precision?: Precision
}

export interface ConvolutionSource {
  /** `[outputChannels, inputChannels, kernel]`, as PyTorch's Conv1d keeps it */
  readonly weight: StoredWeight
  readonly bias?: Float32Array
  readonly stride?: number
  readonly dilation?: number
  readonly padding?: 'zero' | 'replicate'
  /** Default `stored`. */
  readonly precision?: Precision
}

export interface TransposedConvolutionSource {
  /** `[inputChannels, outputChannels, kernel]`, or `[channels, 1, kernel]` when depthwise: PyTorch's ConvTranspose1d */
  readonly weight: StoredWeight
  readonly bias?: Float32Array
  readonly stride: number
  readonly depthwise?: boolean
  /** Default `stored`. Depthwise filters are few, and kept as float32 whatever is said here. */
  readonly precision?: Precision
}
