import type { Operation } from '@pocket/nn'
import { addressOf, type Binding, owned, packedFields, place, placeFactor, type Step } from './binding.ts'
import { attention, attentionScratch } from './compile-attention.ts'
import { convolution, transposedConvolution, windowScratch } from './compile-convolution.ts'
import { activationCodes, elementwise, norm, plainProduct, product, writeDescriptor } from './descriptors.ts'
import { blockLength, contiguousTaps } from './taps.ts'
import type { WasmMatrix } from './weights.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

/** Binds an operation to its memory. Throws KernelError `unavailable` for a handle of another executor. */
export const compile = (operation: Operation, binding: Binding): Step => {
  switch (operation.kind) {
    case 'linear':
      return linear(operation, binding)
    case 'layerNorm':
      return layerNorm(operation, binding)
    case 'attention':
      return attention(operation, binding)
    case 'convolution':
      return convolution(operation, binding)
    case 'transposedConvolution':
      return transposedConvolution(operation, binding)
    case 'addVector':
      return addVector(operation, binding)
    default:
      return operation satisfies never
  }
}

/** Float32 values of scratch that the operation needs while it runs. */
export const scratchLength = (operation: Operation): number => {
  switch (operation.kind) {
    case 'attention':
      return attentionScratch(operation).length
    case 'convolution':
    case 'transposedConvolution':
      return windowScratch(operation).length
    case 'linear':
      return operation.x.rows > 1 ? blockLength(contiguousTaps(operation.matrix.inputs)) : 0
    default:
      return 0
  }
}

const linear = (operation: Of<'linear'>, binding: Binding): Step => {
  const { x, activation, scale, residual, out } = operation
  const matrix = owned<WasmMatrix>(operation.matrix, binding, 'matrix')
  const { inputs, panels } = matrix.packed
  const input = place(x, binding)
  const gate = placeFactor(scale, binding)
  const added = place(residual, binding)
  const output = place(out, binding)
  const address = binding.descriptors
  writeDescriptor(binding.runtime, address, product, {
    ...plainProduct,
    x: input.address,
    xStride: input.stride,
    rows: x.rows,
    ...contiguousTaps(inputs),
    ...packedFields(matrix),
    block: x.rows > 1 ? binding.address + binding.layout.scratch(operation) * 4 : 0,
    activation: activationCodes[activation],
    scale: typeof scale === 'number' ? scale : 1,
    gate: gate.address,
    gateStride: gate.stride,
    residual: added.address,
    residualStride: added.stride,
    out: output.address,
    outStride: output.stride,
  })
  return (kernels) => kernels.multiply(address, 0, panels)
}

const layerNorm = (operation: Of<'layerNorm'>, binding: Binding): Step => {
  const { x, modulation, out } = operation
  const { weight, bias, eps } = operation.norm
  const input = place(x, binding)
  const gain = place(modulation?.scale, binding)
  const shift = place(modulation?.shift, binding)
  const output = place(out, binding)
  const address = binding.descriptors
  writeDescriptor(binding.runtime, address, norm, {
    x: input.address,
    xStride: input.stride,
    out: output.address,
    outStride: output.stride,
    rows: x.rows,
    columns: x.columns,
    eps,
    weight: addressOf(weight, binding),
    bias: addressOf(bias, binding),
    gain: gain.address,
    gainStride: gain.stride,
    shift: shift.address,
    shiftStride: shift.stride,
  })
  return (kernels) => kernels.normalize(address)
}

const addVector = (operation: Of<'addVector'>, binding: Binding): Step => {
  const { x, vector, activation, out } = operation
  const input = place(x, binding)
  const output = place(out, binding)
  const address = binding.descriptors
  writeDescriptor(binding.runtime, address, elementwise, {
    x: input.address,
    xStride: input.stride,
    out: output.address,
    outStride: output.stride,
    rows: x.rows,
    columns: x.columns,
    vector: addressOf(vector, binding),
    activation: activationCodes[activation],
  })
  return (kernels) => kernels.activate(address)
}
