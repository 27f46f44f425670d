import type { Checkpoint } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'
import { SeanetLoader, type SeanetModule } from './seanet.ts'

/** Loads `encoder.model.*`: a convolution from one channel, per ratio a residual block and a downsampling, a convolution. */
export const loadSeanetEncoder = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  { dModel, ratios }: MimiConfig,
): Promise<readonly SeanetModule[]> => {
  const loader = new SeanetLoader(checkpoint, kernels, 'encoder.model.', 1)
  await loader.convolution(0)
  let index = 1
  for (const ratio of ratios.toReversed()) {
    await loader.residualBlock(index)
    await loader.convolution(index + 2, { kernel: 2 * ratio, stride: ratio })
    index += 3
  }
  await loader.convolution(index + 1, { outputs: dModel })
  return loader.modules
}
