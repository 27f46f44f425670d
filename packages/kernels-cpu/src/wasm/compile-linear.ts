import type { Operation } from '@pocket/nn'
import { type Binding, type Needs, owned, place, placeFactor, type Step } from './binding.ts'
import { bindProduct, type ProductSource, productScratch } from './compile-product.ts'
import type { PackedIntegers } from './pack.ts'
import type { Work } from './program.ts'
import { bindQuantization, quantizedLength } from './quantized-rows.ts'
import { contiguousTaps } from './taps.ts'
import type { WasmMatrix } from './weights.ts'

type Linear = Extract<Operation, { kind: 'linear' }>

export const linear = (operation: Linear, binding: Binding): Step => {
  const { x, activation, scale, residual, out } = operation
  const matrix = owned<WasmMatrix>(operation.matrix, binding, 'matrix')
  const input = bindInput(operation, matrix, binding)
  const product = bindProduct(binding.runtime, input.nextDescriptor, {
    ...input.source,
    rows: x.rows,
    weights: matrix,
    activation,
    scale: typeof scale === 'number' ? scale : 1,
    gate: placeFactor(scale, binding),
    residual: place(residual, binding),
    out: place(out, binding),
  })
  return { work: [...input.work, product] }
}

export const linearNeeds = ({ x, matrix }: Linear): Needs => {
  // The matrix may be another executor's, which is found out when the operation is compiled.
  const { integers } = (matrix as Partial<WasmMatrix>).packed ?? {}
  return integers
    ? { shared: quantizedLength(x.rows, paddedInputs(integers)) }
    : { scratch: productScratch(x.rows, contiguousTaps(matrix.inputs)) }
}

interface Input {
  readonly source: Pick<ProductSource, 'x' | 'taps' | 'xScales'>
  readonly work: readonly Work[]
  readonly nextDescriptor: number
}

/** x as it is, or as integers, which all threads share. */
const bindInput = (operation: Linear, { packed }: WasmMatrix, binding: Binding): Input => {
  const { x } = operation
  const { integers } = packed
  if (!integers) {
    const source = { x: place(x, binding), taps: contiguousTaps(packed.inputs) }
    return { source, work: [], nextDescriptor: binding.descriptors }
  }
  const { rows, scales, ...rest } = bindQuantization(binding, binding.descriptors, {
    x: place(x, binding),
    rows: x.rows,
    columns: packed.inputs,
    paddedColumns: paddedInputs(integers),
    limit: integers.inputLimit,
    asDigits: integers.asDigits,
    to: binding.address + binding.layout.scratch(operation) * 4,
  })
  const { taps, inputs } = integers
  return {
    source: { x: rows, taps: { taps, inputs, tapStride: inputs * 2 }, xScales: { ...scales, tapStride: 0 } },
    ...rest,
  }
}

const paddedInputs = ({ taps, inputs }: PackedIntegers): number => taps * inputs
