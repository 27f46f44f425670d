import type { Checkpoint } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'
import { SeanetLoader, type SeanetModule } from './seanet.ts'

/** Loads `decoder.model.*`: a convolution, per ratio an upsampling and a residual block, a convolution to one channel. */
export const loadSeanetDecoder = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  { dModel, ratios }: MimiConfig,
): Promise<readonly SeanetModule[]> => {
  const loader = new SeanetLoader(checkpoint, kernels, 'decoder.model.', dModel)
  await loader.convolution(0)
  let index = 2
  for (const ratio of ratios) {
    await loader.transposedConvolution(index, ratio)
    await loader.residualBlock(index + 1)
    index += 3
  }
  await loader.convolution(index, { outputs: 1 })
  return loader.modules
}
