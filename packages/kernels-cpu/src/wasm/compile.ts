import type { Operation } from '@pocket/nn'
import { addressOf, type Binding, type Needs, place, type Step } from './binding.ts'
import { attention, attentionScratch, attentionTable } from './compile-attention.ts'
import { convolution, convolutionNeeds, transposedConvolution } from './compile-convolution.ts'
import { linear, linearNeeds } from './compile-linear.ts'
import { activationCodes, elementwise, loadOfActivation, norm, writeDescriptor } from './descriptors.ts'

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

export const needsOf = (operation: Operation): Needs => {
  switch (operation.kind) {
    case 'attention':
      return { scratch: attentionScratch(operation), table: attentionTable(operation) }
    case 'convolution':
    case 'transposedConvolution':
      return convolutionNeeds(operation)
    case 'linear':
      return linearNeeds(operation)
    default:
      return {}
  }
}

const layerNorm = (operation: Of<'layerNorm'>, binding: Binding): Step => {
  const { x, modulation, out } = operation
  const { weight, bias, eps } = operation.norm
  const input = place(x, binding)
  const gain = place(modulation?.scale, binding)
  const shift = place(modulation?.shift, binding)
  const output = place(out, binding)
  const descriptor = binding.descriptors
  writeDescriptor(binding.runtime, descriptor, norm, {
    x: input.address,
    xStride: input.stride,
    out: output.address,
    outStride: output.stride,
    columns: x.columns,
    eps,
    weight: addressOf(weight, binding),
    bias: addressOf(bias, binding),
    gain: gain.address,
    gainStride: gain.stride,
    shift: shift.address,
    shiftStride: shift.stride,
  })
  const { rows, columns } = x
  return { work: [{ kernel: 'normalize', descriptor, units: rows, load: rows * columns * loadOfNorm }] }
}

/** Three passes over the values, and one that scales them. */
const loadOfNorm = 4

const addVector = (operation: Of<'addVector'>, binding: Binding): Step => {
  const { x, vector, activation, out } = operation
  const input = place(x, binding)
  const output = place(out, binding)
  const descriptor = binding.descriptors
  writeDescriptor(binding.runtime, descriptor, elementwise, {
    x: input.address,
    xStride: input.stride,
    out: output.address,
    outStride: output.stride,
    columns: x.columns,
    vector: addressOf(vector, binding),
    activation: activationCodes[activation],
  })
  const { rows, columns } = x
  const load = rows * columns * loadOfActivation[activation]
  return { work: [{ kernel: 'activate', descriptor, units: rows, load }] }
}
