import {
  type Convolution,
  type ConvolutionSource,
  checkConvolution,
  checkMatrix,
  checkTransposedConvolution,
  convolutionRows,
  filtersByStep,
  type Matrix,
  type MatrixSource,
  type Precision,
  repeatedBias,
  type TransposedConvolution,
  type TransposedConvolutionSource,
  transposedConvolutionRows,
  type Vector,
  widenedWeight,
  withoutF16,
} from '@pocket/nn'
import { isInteger } from '../integers.ts'
import { type PackedWeights, packWeights, type RowSource } from './pack.ts'
import { packIntegers } from './pack-integers.ts'
import { convolutionSource, matrixSource } from './row-sources.ts'
import type { Runtime } from './runtime.ts'

/** Handles to weights in a runtime's memory. Addresses are bytes; a missing bias has address 0. */

interface Owned {
  readonly runtime: Runtime
}

export interface WasmVector extends Vector, Owned {
  readonly address: number
}

export interface WasmMatrix extends Matrix, Owned {
  readonly packed: PackedWeights
  readonly bias: number
}

export interface WasmConvolution extends Convolution, Owned {
  readonly packed: PackedWeights
  readonly bias: number
}

export interface WasmTransposedConvolution extends TransposedConvolution, Owned {
  /** Of `[stride · outputChannels, taps · inputChannels]`; undefined when depthwise. */
  readonly packed: PackedWeights | undefined
  /** Depthwise only: `[kernel, channels]`, float32. */
  readonly filters: number
  readonly bias: number
}

export const wasmVector = (runtime: Runtime, values: Float32Array): WasmVector => ({
  runtime,
  length: values.length,
  address: runtime.store(values, `a vector of ${values.length} values`),
})

export const wasmMatrix = (runtime: Runtime, source: MatrixSource): WasmMatrix => {
  checkMatrix(source)
  const { bias, precision = 'stored' } = source
  const weight = withoutF16(source.weight)
  const [outputs = 0, inputs = 0] = weight.shape
  const what = `a matrix of [${outputs}, ${inputs}]`
  const packed = pack(runtime, matrixSource(weight), precision, what)
  return { runtime, outputs, inputs, packed, bias: storeBias(runtime, bias, what) }
}

export const wasmConvolution = (runtime: Runtime, source: ConvolutionSource): WasmConvolution => {
  checkConvolution(source)
  const { bias, stride = 1, dilation = 1, padding = 'zero', precision = 'stored' } = source
  const weight = withoutF16(source.weight)
  const [outputChannels = 0, inputChannels = 0, kernel = 0] = weight.shape
  const what = `a convolution of [${outputChannels}, ${inputChannels}, ${kernel}]`
  const packed = pack(runtime, convolutionSource(convolutionRows(weight)), precision, what)
  const geometry = { inputChannels, outputChannels, kernel, stride, dilation, padding }
  return { runtime, ...geometry, packed, bias: storeBias(runtime, bias, what) }
}

export const wasmTransposedConvolution = (
  runtime: Runtime,
  source: TransposedConvolutionSource,
): WasmTransposedConvolution => {
  checkTransposedConvolution(source)
  const { bias, stride, depthwise = false, precision = 'stored' } = source
  const weight = withoutF16(source.weight)
  const [inputChannels = 0, columns = 0, kernel = 0] = weight.shape
  const outputChannels = depthwise ? inputChannels : columns
  const what = `a transposed convolution of [${inputChannels}, ${columns}, ${kernel}]`
  const geometry = { runtime, inputChannels, outputChannels, kernel, stride, depthwise }
  if (depthwise) {
    const filters = storeFilters(runtime, source, what)
    return { ...geometry, packed: undefined, filters, bias: storeBias(runtime, bias, what) }
  }
  const packed = pack(runtime, convolutionSource(transposedConvolutionRows(weight, stride)), precision, what)
  return {
    ...geometry,
    packed,
    filters: 0,
    bias: storeBias(runtime, bias && repeatedBias(bias, stride), what),
  }
}

const pack = (runtime: Runtime, rows: RowSource, precision: Precision, what: string): PackedWeights =>
  isInteger(precision)
    ? packIntegers(runtime, rows, precision, what)
    : packWeights(runtime, rows, precision, what)

const storeBias = (runtime: Runtime, bias: Float32Array | undefined, what: string): number =>
  bias ? runtime.store(bias, what) : 0

/** `[channels, 1, kernel]` to `[kernel, channels]`, so that four channels are filtered at once. */
const storeFilters = (runtime: Runtime, source: TransposedConvolutionSource, what: string): number => {
  const [channels = 0] = source.weight.shape
  return runtime.store(filtersByStep(widenedWeight(source.weight), channels), what)
}
