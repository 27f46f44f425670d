import {
  type Checkpoint,
  loadTransformer,
  type Operations,
  type Tensor,
  type TransformerLayer,
  transformerLayer,
} from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'
import { MimiError } from './errors.ts'
import type { StreamStates } from './stream-states.ts'

/** `x` `[time, dModel]` through all layers; no norm follows the last. */
export const transformer = (
  ops: Operations,
  x: Tensor,
  layers: readonly TransformerLayer[],
  states: StreamStates,
): Tensor => layers.reduce((x, layer) => transformerLayer(ops, x, layer, states.cache(layer)), x)

/** Loads `encoder_transformer.*` or `decoder_transformer.*`: layers with LayerScale, equally many in both. */
export const loadMimiTransformer = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  side: 'encoder' | 'decoder',
  { dModel, layers }: MimiConfig,
): Promise<readonly TransformerLayer[]> => {
  const prefix = `${side}_transformer.transformer.`
  const found = checkpoint.countLayers(prefix)
  if (found !== layers) {
    throw new MimiError(
      'missing-tensor',
      `${side}_transformer has ${found} layers, expected ${layers}, as many as the decoder's`,
    )
  }
  for (let n = 0; n < layers; n++) checkLayer(checkpoint, `${prefix}layers.${n}.`)
  return loadTransformer(checkpoint, prefix, kernels, dModel)
}

/** What the loader that both networks share would let pass: a layer without LayerScale, a feed-forward of no width. */
const checkLayer = (checkpoint: Checkpoint, layer: string): void => {
  checkpoint.shape(`${layer}layer_scale_1.scale`, 1)
  checkpoint.shape(`${layer}layer_scale_2.scale`, 1)
  const [width = 0] = checkpoint.shape(`${layer}linear1.weight`, 2)
  if (width < 1) throw new MimiError('wrong-shape', `${layer}linear1.weight has no rows`)
}
