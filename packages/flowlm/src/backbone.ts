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
  transformerAttention,
  transformerLayer,
  transformerLayerEnd,
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
  precision: { readonly layers: Precision; readonly others: Precision },
): Promise<Backbone> => ({
  inputProjection: kernels.matrix({
    weight: await checkpoint.stored('input_linear.weight', [dModel, latentDim]),
    precision: precision.others,
  }),
  layers: await loadTransformer(checkpoint, 'transformer.', kernels, dModel, precision.layers),
  outNorm: {
    weight: kernels.vector(await checkpoint.values('out_norm.weight', [dModel])),
    bias: kernels.vector(await checkpoint.values('out_norm.bias', [dModel])),
    eps: transformerNormEps,
  },
  eos: kernels.matrix({
    weight: await checkpoint.stored('out_eos.weight', [1, dModel]),
    bias: await checkpoint.values('out_eos.bias', [1]),
    precision: precision.others,
  }),
})

/** What the attention of a prompt's last layer gave: where the pass over the rows may stop. */
const lastHeads = 'last heads'

/** The tap of a layer's output. */
export const layerTap = (layer: number): string => `layer.${layer}`

/** The value that goes into the last layer: a tap of a prompt, or its input where there is one layer. */
const beforeLast = ({ layers }: Backbone): string =>
  layers.length > 1 ? layerTap(layers.length - 2) : 'embed'

/**
 * A pass over given embeddings, input `embed` `[rows, dModel]`, for what it leaves in the caches. It stops where the
 * last of them is filled: taps `layer.I` of all layers but the last and `lastHeads`, each of the input's shape.
 */
export const recordPrompt = (backbone: Backbone, caches: readonly KvCache[], rows: number): Recording =>
  record(`FlowLM prompt of ${rows}`, (ops) => {
    const embedded = ops.input('embed', rows, backbone.inputProjection.outputs)
    const x = forward(ops, embedded, backbone.layers.slice(0, -1), caches, (name, x) => ops.tap(name, x))
    const last = backbone.layers.length - 1
    ops.tap(lastHeads, transformerAttention(ops, x, backbone.layers[last]!, caches[last]!))
  })

/** The inputs of `recordPromptEnd`, as names of what `recordPrompt` leaves. */
export const promptEndInputs = (backbone: Backbone): string[] => [beforeLast(backbone), lastHeads]

/** What a prompt leaves out, from `promptEndInputs`: taps `layer.I` of the last layer, and `hidden`. Changes no state. */
export const recordPromptEnd = (backbone: Backbone, rows: number): Recording =>
  record(`FlowLM end of a prompt of ${rows}`, (ops) => {
    const { layers, outNorm, inputProjection } = backbone
    const [x, heads] = promptEndInputs(backbone).map((name) => ops.input(name, rows, inputProjection.outputs))
    const last = layers.length - 1
    const out = transformerLayerEnd(ops, x!, heads!, layers[last]!)
    ops.tap('hidden', ops.layerNorm(ops.tap(layerTap(last), out), outNorm))
  })

/**
 * One step from the previous latent: input `latent` `[1, latentDim]`, taps `embed`, `layer.I`, `hidden`, each
 * `[1, dModel]`, and `eos` `[1, 1]`.
 */
export const recordStep = (backbone: Backbone, caches: readonly KvCache[]): Recording =>
  record('FlowLM step', (ops) => {
    const latent = ops.input('latent', 1, backbone.inputProjection.inputs)
    step(ops, latent, backbone, caches, (name, x) => ops.tap(name, x))
  })

/** Names a value of the pass, and returns it. */
type Tap = (name: string, x: Tensor) => Tensor

const untapped: Tap = (_, x) => x

/** `latent` `[1, latentDim]` to the hidden state `[1, dModel]` and the end-of-speech logit `[1, 1]`. */
export const step = (
  ops: Operations,
  latent: Tensor,
  backbone: Backbone,
  caches: readonly KvCache[],
  tap: Tap = untapped,
): { hidden: Tensor; eos: Tensor } => {
  const embedded = tap('embed', ops.linear(latent, backbone.inputProjection))
  const x = forward(ops, embedded, backbone.layers, caches, tap)
  const hidden = tap('hidden', ops.layerNorm(x, backbone.outNorm))
  return { hidden, eos: tap('eos', ops.linear(hidden, backbone.eos)) }
}

/** `[rows, dModel]` through the layers, extending their caches by as many positions. */
const forward = (
  ops: Operations,
  embedded: Tensor,
  layers: readonly TransformerLayer[],
  caches: readonly KvCache[],
  tap: Tap,
): Tensor => {
  let x = embedded
  layers.forEach((layer, index) => {
    x = tap(layerTap(index), transformerLayer(ops, x, layer, caches[index]!))
  })
  return x
}
