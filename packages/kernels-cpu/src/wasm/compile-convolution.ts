import type { Operation } from '@pocket/nn'
import { type Binding, owned, ownedState, packedFields, place, type Step } from './binding.ts'
import { activationCodes, plainProduct, product, upsampling, window, writeDescriptor } from './descriptors.ts'
import type { PackedWeights } from './pack.ts'
import { WasmConvolutionState } from './states.ts'
import { blockLength, contiguousTaps, type Taps } from './taps.ts'
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
  const { packed, stride, inputChannels, padding } = weights
  const input = bindWindow(operation, padding, binding)
  const added = place(residual, binding)
  const output = place(out, binding)
  const address = input.nextDescriptor
  writeDescriptor(binding.runtime, address, product, {
    ...plainProduct,
    x: input.window,
    xStride: stride * inputChannels * 4,
    rows: out.rows,
    ...tapsOf(weights),
    ...packedFields(weights),
    block: input.block,
    residual: added.address,
    residualStride: added.stride,
    out: output.address,
    outStride: output.stride,
  })
  return (kernels) => {
    kernels.slide(input.descriptor)
    kernels.multiply(address, 0, packed.panels)
  }
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
  const address = input.nextDescriptor
  writeDescriptor(binding.runtime, address, product, {
    ...plainProduct,
    x: input.window,
    xStride: inputChannels * 4,
    rows: x.rows,
    ...tapsOf(weights),
    ...packedFields(weights),
    block: input.block,
    out: place(out, binding).address,
    outStride: packed.outputs * 4,
  })
  return (kernels) => {
    kernels.slide(input.descriptor)
    kernels.multiply(address, 0, packed.panels)
  }
}

const depthwise = (
  operation: TransposedConvolution,
  weights: WasmTransposedConvolution,
  binding: Binding,
): Step => {
  const { x, out } = operation
  const input = bindWindow(operation, 'zero', binding)
  const address = input.nextDescriptor
  writeDescriptor(binding.runtime, address, upsampling, {
    window: input.window,
    rows: x.rows,
    channels: weights.inputChannels,
    stride: weights.stride,
    taps: weights.kernel / weights.stride,
    weights: weights.filters,
    bias: weights.bias,
    out: place(out, binding).address,
  })
  return (kernels) => {
    kernels.slide(input.descriptor)
    kernels.upsample(address)
  }
}

/** `slide` will put the state's rows and the rows of x, activated, into the operation's scratch. */
const bindWindow = (
  operation: Convolution | TransposedConvolution,
  padding: 'zero' | 'replicate',
  binding: Binding,
): { descriptor: number; nextDescriptor: number; window: number; block: number } => {
  const { runtime, layout, descriptors } = binding
  const { x, inputActivation } = operation
  const state = ownedState(operation.state, binding, WasmConvolutionState)
  const input = place(x, binding)
  const first = binding.address / 4 + layout.scratch(operation)
  const scratch = windowScratch(operation)
  const address = (first + scratch.window) * 4
  const nextDescriptor = writeDescriptor(runtime, descriptors, window, {
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
  const block = (first + scratch.block) * 4
  return { descriptor: descriptors, nextDescriptor, window: address, block }
}

/** The parts of a convolution's scratch, in float32 values, and its length. */
export const windowScratch = ({ x, state, weights }: Convolution | TransposedConvolution) => {
  const block = Math.ceil(((state.rows + x.rows) * x.columns) / 4) * 4
  return { window: 0, block, length: block + blockLength(tapsOf(weights)) }
}

const tapsOf = (weights: Convolution['weights'] | TransposedConvolution['weights']): Taps => {
  const { inputChannels, kernel, stride } = weights
  if ('depthwise' in weights) return contiguousTaps((kernel / stride) * inputChannels)
  // With dilation the taps of a receptive field lie apart.
  const { dilation } = weights
  return dilation === 1
    ? contiguousTaps(kernel * inputChannels)
    : { taps: kernel, inputs: inputChannels, tapStride: dilation * inputChannels * 4 }
}
