import type {
  Convolution,
  ConvolutionSource,
  Matrix,
  MatrixSource,
  StoredWeight,
  TransposedConvolution,
  TransposedConvolutionSource,
  Vector,
} from '@pocket/nn'
import { bf16ToF32 } from '@pocket/safetensors'
import { isInteger, matrixTaps } from '../integers.ts'
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
}

export interface ScalarTransposedConvolution extends TransposedConvolution {
  /** `[kernel, outputChannels, inputChannels]`, or `[kernel, channels]` when depthwise */
  readonly weight: Float32Array
  readonly bias: Float32Array
}

export const scalarMatrix = ({ weight, bias, precision = 'stored' }: MatrixSource): ScalarMatrix => {
  const [outputs = 0, inputs = 0] = weight.shape
  const stored = widen(weight)
  const sizes = { outputs, inputs, bias: biasOrZeros(bias, outputs) }
  if (isInteger(precision)) {
    const { values, integers } = quantizeWeights(stored, outputs, matrixTaps(inputs), precision)
    return { ...sizes, weight: values, integers }
  }
  if (precision === 'bf16') roundToBf16(stored)
  return { ...sizes, weight: stored }
}

export const scalarConvolution = (source: ConvolutionSource): ScalarConvolution => {
  const { weight, bias, stride = 1, dilation = 1, padding = 'zero' } = source
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
  return { ...geometry, weight: packed, bias: biasOrZeros(bias, outputChannels) }
}

export const scalarTransposedConvolution = (
  source: TransposedConvolutionSource,
): ScalarTransposedConvolution => {
  const { weight, bias, stride, depthwise = false } = source
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
  return { ...geometry, weight: packed, bias: biasOrZeros(bias, outputChannels) }
}

const widen = ({ dtype, bytes }: StoredWeight): Float32Array =>
  // A copy in either case: the source's bytes are not ours to keep, and may lie at any offset.
  dtype === 'BF16' ? bf16ToF32(bytes) : new Float32Array(bytes.slice().buffer)

const roundToBf16 = (values: Float32Array): void => {
  const bits = new Uint32Array(values.buffer)
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!
    bits[i] = (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000
  }
}

const biasOrZeros = (bias: Float32Array | undefined, length: number): Float32Array =>
  bias ? bias.slice() : new Float32Array(length)
