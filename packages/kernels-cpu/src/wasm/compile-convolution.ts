import type { Operation } from '@pocket/nn'
import { type Binding, owned, ownedState, place, type Step } from './binding.ts'
import { bindProduct } from './compile-product.ts'
import { activationCodes, loadOfActivation, upsampling, window, writeDescriptor } from './descriptors.ts'
import type { PackedWeights } from './pack.ts'
import type { Work } from './program.ts'
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
  const { stride, inputChannels, padding } = weights
  const input = bindWindow(operation, padding, binding)
  const product = bindProduct(binding.runtime, input.nextDescriptor, {
    x: { address: input.window, stride: stride * inputChannels * 4 },
    rows: out.rows,
    taps: tapsOf(weights),
    weights,
    residual: place(residual, binding),
    out: place(out, binding),
  })
  return { work: [...input.work, product] }
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
  const { packed, inputChannels } = weights
  const input = bindWindow(operation, 'zero', binding)
  const product = bindProduct(binding.runtime, input.nextDescriptor, {
    x: { address: input.window, stride: inputChannels * 4 },
    rows: x.rows,
    taps: tapsOf(weights),
    weights,
    out: { address: place(out, binding).address, stride: packed.outputs * 4 },
  })
  return { work: [...input.work, product] }
}

const depthwise = (
  operation: TransposedConvolution,
  weights: WasmTransposedConvolution,
  binding: Binding,
): Step => {
  const { x, out } = operation
  const input = bindWindow(operation, 'zero', binding)
  const descriptor = input.nextDescriptor
  const taps = weights.kernel / weights.stride
  writeDescriptor(binding.runtime, descriptor, upsampling, {
    window: input.window,
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

/** `slide` will put the state's rows and the rows of x, activated, into the operation's scratch. */
const bindWindow = (
  operation: Convolution | TransposedConvolution,
  padding: 'zero' | 'replicate',
  binding: Binding,
): { work: Work[]; nextDescriptor: number; window: number } => {
  const { runtime, layout, descriptors: descriptor } = binding
  const { x, inputActivation } = operation
  const state = ownedState(operation.state, binding, WasmConvolutionState)
  const input = place(x, binding)
  const address = binding.address + layout.scratch(operation) * 4
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
  })
  const rows = state.rows + x.rows
  const load = rows * x.columns * loadOfActivation[inputActivation]
  const work: Work[] = [
    { kernel: 'slide', descriptor, units: rows, load },
    { kernel: 'remember', descriptor, units: 1, load: 0 },
  ]
  return { work, nextDescriptor, window: address }
}

/** Float32 values of the window. */
export const windowLength = ({ x, state }: Convolution | TransposedConvolution): number =>
  (state.rows + x.rows) * x.columns

export const tapsOf = (weights: Convolution['weights'] | TransposedConvolution['weights']): Taps => {
  const { inputChannels, kernel, stride } = weights
  if ('depthwise' in weights) return contiguousTaps((kernel / stride) * inputChannels)
  // With dilation the taps of a receptive field lie apart.
  const { dilation } = weights
  return dilation === 1
    ? contiguousTaps(kernel * inputChannels)
    : { taps: kernel, inputs: inputChannels, tapStride: dilation * inputChannels * 4 }
}
