import type { Operation } from '@pocket/nn'
import {
  type Binding,
  type Needs,
  nothing,
  owned,
  ownedState,
  place,
  type Rows,
  type Step,
} from './binding.ts'
import { bindProduct, type ProductSource, productScratch } from './compile-product.ts'
import { activationCodes, loadOfActivation, upsampling, window, writeDescriptor } from './descriptors.ts'
import type { PackedIntegers, PackedWeights } from './pack.ts'
import type { Work } from './program.ts'
import { bindQuantization, loadOfQuantization, quantizedLength } from './quantized-rows.ts'
import { WasmConvolutionState } from './states.ts'
import { contiguousTaps, type Taps } from './taps.ts'
import type { WasmConvolution, WasmTransposedConvolution } from './weights.ts'

/**
 * Convolutions as products. Time runs along the rows, so the inputs of one output (its receptive field) lie in one
 * piece, the next one's a stride further on: rows of a matrix that overlap, and nothing is copied to make them.
 */

type Convolution = Extract<Operation, { kind: 'convolution' }>
type TransposedConvolution = Extract<Operation, { kind: 'transposedConvolution' }>

export const convolution = (operation: Convolution, binding: Binding): Step => {
  const { residual, out } = operation
  const weights = owned<WasmConvolution>(operation.weights, binding, 'convolution')
  const { stride, dilation, padding, packed } = weights
  const window = bindWindow(operation, padding, packed.integers, binding)
  const product = bindProduct(binding.runtime, window.nextDescriptor, {
    ...rowsOfWindow(window, operation, { stride, dilation }),
    rows: out.rows,
    weights,
    residual: place(residual, binding),
    out: place(out, binding),
  })
  return { work: [...window.work, product] }
}

export const transposedConvolution = (operation: TransposedConvolution, binding: Binding): Step => {
  const weights = owned<WasmTransposedConvolution>(operation.weights, binding, 'transposed convolution')
  return weights.packed
    ? wideProduct(operation, { ...weights, packed: weights.packed }, binding)
    : depthwise(operation, weights, binding)
}

/** An input row and those before it give `stride` output rows, which are one row of a product that much wider. */
const wideProduct = (
  operation: TransposedConvolution,
  weights: WasmTransposedConvolution & { readonly packed: PackedWeights },
  binding: Binding,
): Step => {
  const { x, out } = operation
  const { packed } = weights
  const window = bindWindow(operation, 'zero', packed.integers, binding)
  const product = bindProduct(binding.runtime, window.nextDescriptor, {
    ...rowsOfWindow(window, operation, { stride: 1, dilation: 1 }),
    rows: x.rows,
    weights,
    out: { address: place(out, binding).address, stride: packed.outputs * 4 },
  })
  return { work: [...window.work, product] }
}

const depthwise = (
  operation: TransposedConvolution,
  weights: WasmTransposedConvolution,
  binding: Binding,
): Step => {
  const { x, out } = operation
  const input = bindWindow(operation, 'zero', undefined, binding)
  const descriptor = input.nextDescriptor
  const taps = weights.kernel / weights.stride
  writeDescriptor(binding.runtime, descriptor, upsampling, {
    window: input.rows.address,
    channels: weights.inputChannels,
    stride: weights.stride,
    taps,
    weights: weights.filters,
    bias: weights.bias,
    out: place(out, binding).address,
  })
  const rows = x.rows * weights.stride
  const load = rows * weights.inputChannels * taps
  return { work: [...input.work, { kernel: 'upsample', descriptor, units: rows, load }] }
}

interface BoundWindow {
  readonly work: readonly Work[]
  readonly nextDescriptor: number
  /** A row for each time step. */
  readonly rows: Rows
  /** Of integers, as are the rows then. */
  readonly scales?: Rows
}

/** `slide` will put the state's rows and the rows of x, activated, into memory of the operation's. */
const bindWindow = (
  operation: Convolution | TransposedConvolution,
  padding: 'zero' | 'replicate',
  integers: PackedIntegers | undefined,
  binding: Binding,
): BoundWindow => {
  const { runtime, layout } = binding
  const { x, inputActivation } = operation
  const state = ownedState(operation.state, binding, WasmConvolutionState)
  const input = place(x, binding)
  const address = binding.address + layout.scratch(operation) * 4
  const rows = state.rows + x.rows
  const quantized = integers && bindWindowIntegers(rows, x.columns, integers, address, binding)
  const descriptor = quantized?.nextDescriptor ?? binding.descriptors
  const nextDescriptor = writeDescriptor(runtime, descriptor, window, {
    x: input.address,
    xStride: input.stride,
    rows: x.rows,
    channels: x.columns,
    fresh: state.address,
    history: state.history,
    historyRows: state.rows,
    replicate: padding === 'replicate' ? 1 : 0,
    activation: activationCodes[inputActivation],
    window: address,
    quantization: quantized ? binding.descriptors : 0,
  })
  const load = rows * x.columns * (loadOfActivation[inputActivation] + (quantized ? loadOfQuantization : 0))
  const work: Work[] = [
    { kernel: 'slide', descriptor, units: rows, load },
    { kernel: 'remember', descriptor, units: 1, load: 0 },
  ]
  const plain = { address, stride: x.columns * 4 }
  return { rows: plain, ...quantized, work, nextDescriptor }
}

/** The window's rows as integers: `slide` quantises them as it fills them in. */
const bindWindowIntegers = (
  rows: number,
  columns: number,
  { inputs: paddedColumns, inputLimit: limit, asDigits }: PackedIntegers,
  to: number,
  binding: Binding,
) => {
  const source = { x: nothing, rows, columns, paddedColumns, limit, asDigits, to }
  const { work: _, ...quantized } = bindQuantization(binding, binding.descriptors, source)
  return quantized
}

/** The rows of a product: a time step and those that follow it, the next row's a stride further on. */
const rowsOfWindow = (
  { rows, scales }: BoundWindow,
  { weights }: Convolution | TransposedConvolution,
  { stride, dilation }: { readonly stride: number; readonly dilation: number },
): Pick<ProductSource, 'x' | 'taps' | 'xScales'> => {
  const x = { address: rows.address, stride: stride * rows.stride }
  if (!scales) return { x, taps: tapsOf(weights) }
  return {
    x,
    taps: { taps: stepsOf(weights), inputs: rows.stride / 2, tapStride: dilation * rows.stride },
    xScales: { address: scales.address, stride: stride * scales.stride, tapStride: dilation * scales.stride },
  }
}

export const convolutionNeeds = (operation: Convolution | TransposedConvolution): Needs => {
  const { x, out, state } = operation
  const weights: Partial<WasmConvolution | WasmTransposedConvolution> & typeof operation.weights =
    operation.weights
  const rows = state.rows + x.rows
  // The weights may be another executor's, which is found out when the operation is compiled.
  const integers = weights.packed?.integers
  return integers
    ? { shared: quantizedLength(rows, integers.inputs), scratch: x.columns }
    : { shared: rows * x.columns, scratch: productScratch(out.rows, tapsOf(weights)) }
}

/** Time steps that an output row of the product sees. */
const stepsOf = (weights: Convolution['weights'] | TransposedConvolution['weights']): number =>
  'depthwise' in weights ? weights.kernel / weights.stride : weights.kernel

const tapsOf = (weights: Convolution['weights'] | TransposedConvolution['weights']): Taps => {
  const { inputChannels, kernel, stride } = weights
  if ('depthwise' in weights) return contiguousTaps((kernel / stride) * inputChannels)
  // With dilation the taps of a receptive field lie apart.
  const { dilation } = weights
  return dilation === 1
    ? contiguousTaps(kernel * inputChannels)
    : { taps: kernel, inputs: inputChannels, tapStride: dilation * inputChannels * 4 }
}
