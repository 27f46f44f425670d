import {
  type Checkpoint,
  type Convolution,
  loadTransformer,
  type TransformerLayer,
  transformerLayer,
} from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'
import { MimiError } from './errors.ts'
import type { FrameNetwork } from './frame-stream.ts'
import { loadDownsample } from './resample.ts'
import { type SeanetModule, seanet } from './seanet.ts'
import { loadSeanetEncoder } from './seanet-encoder.ts'

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
    transformer: await loadEncoderTransformer(checkpoint, kernels, config),
    downsample: await loadDownsample(checkpoint, kernels, config),
  })

const encoderNetwork = ({ frameSize }: MimiConfig, weights: EncoderWeights): FrameNetwork => ({
  label: 'mimi encoder',
  input: { name: 'pcm', rows: frameSize, columns: 1 },
  output: 'latent',
  describe: (ops, pcm, states, tap) => {
    const encoded = tap('encoder', seanet(ops, pcm, weights.seanet, states, tap))
    const hidden = weights.transformer.reduce(
      (x, layer) => transformerLayer(ops, x, layer, states.cache(layer)),
      encoded,
    )
    const { downsample } = weights
    return ops.convolution(tap('transformer', hidden), downsample, states.convolution(downsample))
  },
})

const loadEncoderTransformer = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  { dModel, layers }: MimiConfig,
): Promise<readonly TransformerLayer[]> => {
  const transformer = await loadTransformer(checkpoint, 'encoder_transformer.transformer.', kernels, dModel)
  if (transformer.length === layers) return transformer
  throw new MimiError(
    'missing-tensor',
    `encoder_transformer has ${transformer.length} layers, expected ${layers}, as decoder_transformer has`,
  )
}

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
