import {
  type Checkpoint,
  type Kernels,
  type KvCache,
  loadTransformer,
  type Matrix,
  type Norm,
  type Operations,
  type Precision,
  type Recording,
  record,
  type Tensor,
  type TransformerLayer,
  transformerLayer,
  transformerNormEps,
} from '@pocket/nn'
import type { FlowLmConfig } from './config.ts'

/** The transformer that reads text, voice and its own latents. */
export interface Backbone {
  /** A latent to an embedding: `[dModel, latentDim]` */
  readonly inputProjection: Matrix
  readonly layers: readonly TransformerLayer[]
  readonly outNorm: Norm
  /** A hidden state to the end-of-speech logit: `[1, dModel]` */
  readonly eos: Matrix
}

export const loadBackbone = async (
  checkpoint: Checkpoint,
  kernels: Kernels,
  { dModel, latentDim }: FlowLmConfig,
  precision: Precision,
): Promise<Backbone> => ({
  inputProjection: kernels.matrix({
    weight: await checkpoint.stored('input_linear.weight', [dModel, latentDim]),
    precision,
  }),
  layers: await loadTransformer(checkpoint, 'transformer.', kernels, dModel, precision),
  outNorm: {
    weight: kernels.vector(await checkpoint.values('out_norm.weight', [dModel])),
    bias: kernels.vector(await checkpoint.values('out_norm.bias', [dModel])),
    eps: transformerNormEps,
  },
  eos: kernels.matrix({
    weight: await checkpoint.stored('out_eos.weight', [1, dModel]),
    bias: await checkpoint.values('out_eos.bias', [1]),
    precision,
  }),
})

/**
 * A pass over given embeddings: input `embed` `[rows, dModel]`, taps `layer.I` and `hidden` of the same shape.
 * It is run for what it leaves in the caches.
 */
export const recordPrompt = (backbone: Backbone, caches: readonly KvCache[], rows: number): Recording =>
  record(`FlowLM prompt of ${rows}`, (ops) => {
    forward(ops, ops.input('embed', rows, backbone.inputProjection.outputs), backbone, caches)
  })

/** One step from the previous latent: input `latent` `[1, latentDim]`, taps as a prompt has and `eos` `[1, 1]`. */
export const recordStep = (backbone: Backbone, caches: readonly KvCache[]): Recording =>
  record('FlowLM step', (ops) => {
    const latent = ops.input('latent', 1, backbone.inputProjection.inputs)
    const embedded = ops.tap('embed', ops.linear(latent, backbone.inputProjection))
    ops.tap('eos', ops.linear(forward(ops, embedded, backbone, caches), backbone.eos))
  })

/** `[rows, dModel]` to hidden states of that shape, extending the caches by as many positions. */
const forward = (
  ops: Operations,
  embedded: Tensor,
  backbone: Backbone,
  caches: readonly KvCache[],
): Tensor => {
  let x = embedded
  backbone.layers.forEach((layer, index) => {
    x = ops.tap(`layer.${index}`, transformerLayer(ops, x, layer, caches[index]!))
  })
  return ops.tap('hidden', ops.layerNorm(x, backbone.outNorm))
}
