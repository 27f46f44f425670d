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
  /** Default `zero`. */
  readonly padding?: 'zero' | 'replicate'
}

/** Loads `<module>.conv.weight` `[outputs, inputs, kernel]` and, where there is one, `<module>.conv.bias`. */
export const loadConvolution = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  module: string,
  { inputs, outputs, kernel, stride = 1, padding = 'zero' }: ConvolutionSizes,
): Promise<Convolution> => {
  const name = `${module}.conv.weight`
  const [foundOutputs, , foundKernel] = nonEmptyShape(checkpoint, name)
  const bias = `${module}.conv.bias`
  return kernels.convolution({
    weight: await checkpoint.stored(name, [outputs ?? foundOutputs, inputs, kernel ?? foundKernel]),
    ...(await loadBias(checkpoint, bias, outputs ?? foundOutputs)),
    stride,
    padding,
  })
}

/** Loads `<module>.convtr.weight` `[inputs, outputs, 2 · stride]` and, where there is one, its bias. */
export const loadTransposedConvolution = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  module: string,
  { inputs, stride }: { readonly inputs: number; readonly stride: number },
): Promise<TransposedConvolution> => {
  const name = `${module}.convtr.weight`
  const [, outputs] = nonEmptyShape(checkpoint, name)
  return kernels.transposedConvolution({
    weight: await checkpoint.stored(name, [inputs, outputs, 2 * stride]),
    ...(await loadBias(checkpoint, `${module}.convtr.bias`, outputs)),
    stride,
  })
}

const loadBias = async (checkpoint: Checkpoint, name: string, length: number) =>
  checkpoint.has(name) ? { bias: await checkpoint.values(name, [length]) } : {}

const nonEmptyShape = (checkpoint: Checkpoint, name: string): [number, number, number] => {
  const [first = 0, second = 0, third = 0] = checkpoint.shape(name, 3)
  if (first * second * third > 0) return [first, second, third]
  throw new MimiError('wrong-shape', `${name} is [${first}, ${second}, ${third}]: no size may be 0`)
}
