import type { Precision } from '@pocket/nn'
import type { WeightKernels } from './convolution.ts'
import { MimiError } from './errors.ts'

const precisions = ['stored', 'int16'] as const satisfies readonly Precision[]

/** How the decoder's weights are kept: as stored, or as integers of 16 bits that are multiplied by such. */
export type MimiPrecision = (typeof precisions)[number]

export const checkPrecision = (precision: MimiPrecision): void => {
  if (precisions.includes(precision)) return
  throw new MimiError(
    'invalid-config',
    `precision is ${String(precision)}, expected one of ${precisions.join(', ')}`,
  )
}

/** Layers of fewer outputs stay as they are stored: the last convolution has one, and is what is heard. */
const fewestOutputs = 16

/** An executor whose matrices and convolutions are kept at `precision`. */
export const atPrecision = (kernels: WeightKernels, precision: MimiPrecision): WeightKernels => ({
  vector: (values) => kernels.vector(values),
  matrix: (source) => kernels.matrix({ ...source, precision }),
  convolution: (source) => {
    const [outputs = 0] = source.weight.shape
    return kernels.convolution(outputs < fewestOutputs ? source : { ...source, precision })
  },
  transposedConvolution: (source) => kernels.transposedConvolution({ ...source, precision }),
})
