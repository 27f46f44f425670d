import type { Checkpoint, Matrix, TransformerLayer, TransposedConvolution } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'
import type { FrameNetwork } from './frame-network.ts'
import { loadUpsample } from './resample.ts'
import { type SeanetModule, seanet } from './seanet.ts'
import { loadSeanetDecoder } from './seanet-decoder.ts'
import { loadMimiTransformer, transformer } from './transformer.ts'

interface DecoderWeights {
  readonly projection: Matrix
  readonly upsample: TransposedConvolution
  readonly transformer: readonly TransformerLayer[]
  readonly seanet: readonly SeanetModule[]
}

/** From one latent to the samples of one frame. */
export const loadDecoderNetwork = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  config: MimiConfig,
): Promise<FrameNetwork> =>
  decoderNetwork(config, {
    projection: await loadProjection(checkpoint, kernels, config),
    upsample: await loadUpsample(checkpoint, kernels, config),
    transformer: await loadMimiTransformer(checkpoint, kernels, 'decoder', config),
    seanet: await loadSeanetDecoder(checkpoint, kernels, config),
  })

const decoderNetwork = ({ latentDim }: MimiConfig, weights: DecoderWeights): FrameNetwork => ({
  label: 'mimi decoder',
  input: { name: 'latent', rows: 1, columns: latentDim },
  output: 'pcm',
  describe: (ops, latent, states, tap) => {
    const projected = tap('quantizer', ops.linear(latent, weights.projection))
    const { upsample } = weights
    const positions = tap(
      'upsample',
      ops.transposedConvolution(projected, upsample, states.convolution(upsample)),
    )
    const hidden = tap('transformer', transformer(ops, positions, weights.transformer, states))
    return seanet(ops, hidden, weights.seanet, states, tap)
  },
})

/** What is left of the quantizer: a convolution of kernel 1, which is a matrix. */
const loadProjection = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  { dModel, latentDim }: MimiConfig,
): Promise<Matrix> => {
  const weight = await checkpoint.stored('quantizer.output_proj.weight', [dModel, latentDim, 1])
  return kernels.matrix({ weight: { ...weight, shape: [dModel, latentDim] } })
}
