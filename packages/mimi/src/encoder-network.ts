import type { Checkpoint, Convolution, TransformerLayer } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'
import type { FrameNetwork } from './frame-network.ts'
import { loadDownsample } from './resample.ts'
import { type SeanetModule, seanet } from './seanet.ts'
import { loadSeanetEncoder } from './seanet-encoder.ts'
import { loadMimiTransformer, transformer } from './transformer.ts'

interface EncoderWeights {
  readonly seanet: readonly SeanetModule[]
  readonly transformer: readonly TransformerLayer[]
  readonly downsample: Convolution
}

/** From the samples of one frame to one latent. */
export const loadEncoderNetwork = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  config: MimiConfig,
): Promise<FrameNetwork> =>
  encoderNetwork(config, {
    seanet: await loadSeanetEncoder(checkpoint, kernels, config),
    transformer: await loadMimiTransformer(checkpoint, kernels, 'encoder', config),
    downsample: await loadDownsample(checkpoint, kernels, config),
  })

const encoderNetwork = ({ frameSize }: MimiConfig, weights: EncoderWeights): FrameNetwork => ({
  label: 'mimi encoder',
  input: { name: 'pcm', rows: frameSize, columns: 1 },
  output: 'latent',
  describe: (ops, pcm, states, tap) => {
    const encoded = tap('encoder', seanet(ops, pcm, weights.seanet, states, tap))
    const hidden = tap('transformer', transformer(ops, encoded, weights.transformer, states))
    const { downsample } = weights
    return ops.convolution(hidden, downsample, states.convolution(downsample))
  },
})

/** Whether a tensor of a checkpoint is of the codec's encoder, with or without the prefix `mimi.`. */
export const isOfEncoder = (name: string): boolean =>
  /^(mimi\.)?(encoder|encoder_transformer|downsample)\./.test(name)

const firstWeight = 'encoder.model.0.conv.weight'

/** False where one of the encoder's three parts was left out of the checkpoint. */
export const hasEncoder = (checkpoint: Checkpoint): boolean =>
  checkpoint.has(firstWeight) &&
  checkpoint.countLayers('encoder_transformer.transformer.') > 0 &&
  checkpoint.has('downsample.conv.conv.weight')

/**
 * False where the encoder is all zeros, as in the weights that are published without voice cloning. Its first
 * convolution tells: when that is zero nothing of the sound gets through.
 */
export const isEncoderTrained = async (checkpoint: Checkpoint): Promise<boolean> => {
  const values = await checkpoint.values(firstWeight, checkpoint.shape(firstWeight))
  return values.some((value) => value !== 0)
}
