import type {
  Convolution,
  ConvolutionSource,
  Matrix,
  MatrixSource,
  TransposedConvolution,
  TransposedConvolutionSource,
  Vector,
} from '@pocket/nn'
import {
  checkConvolution,
  checkMatrix,
  checkTransposedConvolution,
  convolutionRows,
  filtersByStep,
  repeatedBias,
  transposedConvolutionRows,
  widenedWeight,
} from '@pocket/nn'
import type { Gpu } from './gpu.ts'
import { gatheredRows, type PackedWeights, packRows, storedRows } from './pack.ts'

/** Handles to weights on a device. */

export interface GpuVector extends Vector {
  readonly buffer: GPUBuffer
}

export interface GpuMatrix extends Matrix {
  readonly packed: PackedWeights
}

export interface GpuConvolution extends Convolution {
  readonly packed: PackedWeights
}

export interface GpuTransposedConvolution extends TransposedConvolution {
  /** Of `[stride · outputChannels, kernel / stride · inputChannels]`; undefined when depthwise. */
  readonly packed: PackedWeights | undefined
  /** Depthwise only: `[kernel, channels]` float32, and the bias. */
  readonly filters: { readonly buffer: GPUBuffer; readonly bias: GPUBuffer | undefined } | undefined
}

export const gpuVector = (gpu: Gpu, values: Float32Array): GpuVector => ({
  length: values.length,
  buffer: gpu.store(`vector of ${values.length}`, values),
})

export const gpuMatrix = (gpu: Gpu, source: MatrixSource): GpuMatrix => {
  checkMatrix(source)
  const { weight, bias, precision = 'stored' } = source
  const [outputs = 0, inputs = 0] = weight.shape
  const label = `matrix of [${outputs}, ${inputs}]`
  return { outputs, inputs, packed: packRows(gpu, storedRows(weight), { precision, bias, label }) }
}

export const gpuConvolution = (gpu: Gpu, source: ConvolutionSource): GpuConvolution => {
  checkConvolution(source)
  const { weight, bias, stride = 1, dilation = 1, padding = 'zero' } = source
  const [outputChannels = 0, inputChannels = 0, kernel = 0] = weight.shape
  const label = `convolution of [${weight.shape.join(', ')}]`
  const packed = packRows(gpu, gatheredRows(convolutionRows(weight)), { precision: 'stored', bias, label })
  return { inputChannels, outputChannels, kernel, stride, dilation, padding, packed }
}

export const gpuTransposedConvolution = (
  gpu: Gpu,
  source: TransposedConvolutionSource,
): GpuTransposedConvolution => {
  checkTransposedConvolution(source)
  const { weight, bias, stride, depthwise = false } = source
  const [inputChannels = 0, columns = 0, kernel = 0] = weight.shape
  const label = `transposed convolution of [${weight.shape.join(', ')}]`
  const outputChannels = depthwise ? inputChannels : columns
  const geometry = { inputChannels, outputChannels, kernel, stride, depthwise }
  if (depthwise) {
    const filters = {
      buffer: gpu.store(label, filtersByStep(widenedWeight(weight), inputChannels)),
      bias: bias && gpu.store(`${label}, bias`, bias),
    }
    return { ...geometry, packed: undefined, filters }
  }
  const packed = packRows(gpu, gatheredRows(transposedConvolutionRows(weight, stride)), {
    precision: 'stored',
    bias: bias && repeatedBias(bias, stride),
    label,
  })
  return { ...geometry, packed, filters: undefined }
}
