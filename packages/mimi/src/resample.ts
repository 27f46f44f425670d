import type { Checkpoint, Convolution, TransposedConvolution } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'

/** From one latent to the transformer's positions of a frame, each channel on its own. */
export const loadUpsample = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  { dModel, resampleStride: stride }: MimiConfig,
): Promise<TransposedConvolution> =>
  kernels.transposedConvolution({
    weight: await checkpoint.stored('upsample.convtr.convtr.weight', [dModel, 1, 2 * stride]),
    stride,
    depthwise: true,
  })

/** From the transformer's positions of a frame to one latent. Before the first position stand copies of it, not zeros. */
export const loadDownsample = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  { dModel, innerDim, resampleStride: stride }: MimiConfig,
): Promise<Convolution> =>
  kernels.convolution({
    weight: await checkpoint.stored('downsample.conv.conv.weight', [innerDim, dModel, 2 * stride]),
    stride,
    padding: 'replicate',
  })
