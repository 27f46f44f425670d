import {
  type Convolution,
  type ConvolutionSource,
  type Matrix,
  type MatrixSource,
  type Precision,
  type StoredWeight,
  type TransposedConvolution,
  type TransposedConvolutionSource,
  type Vector,
  widenedWeight,
} from '@pocket/nn'
import { convolutionTaps, type IntegerTaps, isInteger, matrixTaps } from '../integers.ts'
import { type IntegerWeights, quantizeWeights } from './integers.ts'

export interface ScalarVector extends Vector {
  readonly values: Float32Array
}

export interface ScalarMatrix extends Matrix {
  /** `[outputs, inputs]` */
  readonly weight: Float32Array
  readonly bias: Float32Array
  /** Where the weights are integers, and x is to be. */
  readonly integers?: IntegerWeights['integers']
}

export interface ScalarConvolution extends Convolution {
  /** `[outputChannels, kernel, inputChannels]`: a receptive field lies in one piece, as the rows of x do */
  readonly weight: Float32Array
  readonly bias: Float32Array
  /** Where the weights are integers, and x is to be. */
  readonly integers?: IntegerWeights['integers']
}

export interface ScalarTransposedConvolution extends TransposedConvolution {
  /** `[kernel, outputChannels, inputChannels]`, or `[kernel, channels]` when depthwise */
  readonly weight: Float32Array
  readonly bias: Float32Array
  /** Where the weights are integers, and x is to be. Scales are `[stride, outputChannels]`. */
  readonly integers?: IntegerWeights['integers']
}

export const scalarMatrix = ({ weight, bias, precision = 'stored' }: MatrixSource): ScalarMatrix => {
  const [outputs = 0, inputs = 0] = weight.shape
  const sizes = { outputs, inputs, bias: biasOrZeros(bias, outputs) }
  return { ...sizes, ...kept(widen(weight), outputs, matrixTaps(inputs), precision) }
}

export const scalarConvolution = (source: ConvolutionSource): ScalarConvolution => {
  const { weight, bias, stride = 1, dilation = 1, padding = 'zero', precision = 'stored' } = source
  const [outputChannels = 0, inputChannels = 0, kernel = 0] = weight.shape
  const stored = widen(weight)
  const packed = new Float32Array(stored.length)
  for (let o = 0; o < outputChannels; o++) {
    for (let i = 0; i < inputChannels; i++) {
      for (let k = 0; k < kernel; k++) {
        packed[(o * kernel + k) * inputChannels + i] = stored[(o * inputChannels + i) * kernel + k]!
      }
    }
  }
  const geometry = { inputChannels, outputChannels, kernel, stride, dilation, padding }
  const sizes = { ...geometry, bias: biasOrZeros(bias, outputChannels) }
  const taps = convolutionTaps(kernel, inputChannels)
  return { ...sizes, ...kept(packed, outputChannels, taps, precision) }
}

export const scalarTransposedConvolution = (
  source: TransposedConvolutionSource,
): ScalarTransposedConvolution => {
  const { weight, bias, stride, depthwise = false, precision = 'stored' } = source
  const [inputChannels = 0, columns = 0, kernel = 0] = weight.shape
  const outputChannels = depthwise ? inputChannels : columns
  const stored = widen(weight)
  const packed = new Float32Array(stored.length)
  for (let i = 0; i < inputChannels; i++) {
    for (let o = 0; o < columns; o++) {
      for (let k = 0; k < kernel; k++) {
        packed[(k * columns + o) * inputChannels + i] = stored[(i * columns + o) * kernel + k]!
      }
    }
  }
  const geometry = { inputChannels, outputChannels, kernel, stride, depthwise }
  const sizes = { ...geometry, bias: biasOrZeros(bias, outputChannels) }
  if (depthwise) return { ...sizes, weight: packed }
  // Integers share a scale over what one value of the output sees, which is every stride-th part of the kernel.
  const phases = swapped(packed, kernel / stride, stride * outputChannels, inputChannels)
  const taps = convolutionTaps(kernel / stride, inputChannels)
  const { weight: values, ...rest } = kept(phases, stride * outputChannels, taps, precision)
  return {
    ...sizes,
    weight: swapped(values, stride * outputChannels, kernel / stride, inputChannels),
    ...rest,
  }
}

/** `[outer, inner, width]` as `[inner, outer, width]`. */
const swapped = (values: Float32Array, outer: number, inner: number, width: number): Float32Array => {
  const out = new Float32Array(values.length)
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const from = (o * inner + i) * width
      out.set(values.subarray(from, from + width), (i * outer + o) * width)
    }
  }
  return out
}

/** Weights `[outputs, inputs]` as `precision` has them. They are rounded in place. */
const kept = (
  values: Float32Array,
  outputs: number,
  taps: IntegerTaps,
  precision: Precision,
): Pick<ScalarMatrix, 'weight' | 'integers'> => {
  if (isInteger(precision)) {
    const { values: weight, integers } = quantizeWeights(values, outputs, taps, precision)
    return { weight, integers }
  }
  if (precision === 'bf16') roundToBf16(values)
  return { weight: values }
}

const widen = ({ dtype, bytes }: StoredWeight): Float32Array =>
  // A copy in either case: the source's bytes are not ours to keep, and may lie at any offset.
  widenedWeight({ dtype, bytes: dtype === 'F32' ? bytes.slice() : bytes })

const roundToBf16 = (values: Float32Array): void => {
  const bits = new Uint32Array(values.buffer)
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!
    bits[i] = (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000
  }
}

const biasOrZeros = (bias: Float32Array | undefined, length: number): Float32Array =>
  bias ? bias.slice() : new Float32Array(length)
