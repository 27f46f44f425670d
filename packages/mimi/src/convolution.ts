import type { Checkpoint, Convolution, Kernels, TransposedConvolution } from '@pocket/nn'
import { MimiError } from './errors.ts'

/** The part of an executor that makes weights. */
export type WeightKernels = Pick<Kernels, 'vector' | 'matrix' | 'convolution' | 'transposedConvolution'>

export interface ConvolutionSizes {
  readonly inputs: number
  /** Left out: as many as the checkpoint has. */
  readonly outputs?: number
  /** Left out: as long as the checkpoint has it. */
  readonly kernel?: number
  /** Default 1. */
  readonly stride?: number
}

/** Loads `<module>.conv.weight` `[outputs, inputs, kernel]` and `<module>.conv.bias`. */
export const loadConvolution = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  module: string,
  { inputs, outputs, kernel, stride = 1 }: ConvolutionSizes,
): Promise<Convolution> => {
  const name = `${module}.conv.weight`
  const [foundOutputs, , foundKernel] = nonEmptyShape(checkpoint, name)
  const bias = await checkpoint.values(`${module}.conv.bias`, [outputs ?? foundOutputs])
  return checkpoint.lend(name, [outputs ?? foundOutputs, inputs, kernel ?? foundKernel], (weight) =>
    kernels.convolution({ weight, bias, stride }),
  )
}

/** Loads `<module>.convtr.weight` `[inputs, outputs, 2 · stride]` and its bias. */
export const loadTransposedConvolution = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  module: string,
  { inputs, stride }: { readonly inputs: number; readonly stride: number },
): Promise<TransposedConvolution> => {
  const name = `${module}.convtr.weight`
  const [, outputs] = nonEmptyShape(checkpoint, name)
  const bias = await checkpoint.values(`${module}.convtr.bias`, [outputs])
  return checkpoint.lend(name, [inputs, outputs, 2 * stride], (weight) =>
    kernels.transposedConvolution({ weight, bias, stride }),
  )
}

const nonEmptyShape = (checkpoint: Checkpoint, name: string): [number, number, number] => {
  const [first = 0, second = 0, third = 0] = checkpoint.shape(name, 3)
  if (first * second * third > 0) return [first, second, third]
  throw new MimiError('wrong-shape', `${name} is [${first}, ${second}, ${third}]: no size may be 0`)
}
