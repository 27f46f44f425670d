import type { Checkpoint } from './checkpoint.ts'
import type { Kernels } from './kernels.ts'
import type { Norm } from './operation.ts'
import type { Operations } from './operations.ts'
import type { KvCache } from './states.ts'
import type { Tensor } from './tensor.ts'
import type { Matrix, Precision, Vector } from './weights.ts'

/** A pre-norm residual layer; both networks are made of it. LayerScale only in Mimi. */
export interface TransformerLayer {
  readonly attentionNorm: Norm
  readonly inProjection: Matrix
  readonly outProjection: Matrix
  readonly attentionScale: Vector | undefined
  readonly feedForwardNorm: Norm
  readonly linear1: Matrix
  readonly linear2: Matrix
  readonly feedForwardScale: Vector | undefined
}

/** The reference's nn.LayerNorm default, used in every transformer layer and in FlowLM's out_norm. */
export const transformerNormEps = 1e-5

/** `x` `[rows, dModel]` through one layer, extending the cache by its rows. */
export const transformerLayer = (
  ops: Operations,
  x: Tensor,
  layer: TransformerLayer,
  cache: KvCache,
): Tensor => transformerLayerEnd(ops, x, transformerAttention(ops, x, layer, cache), layer)

/** The first part of a layer: extends the cache, and gives what the heads found, `[rows, dModel]`. */
export const transformerAttention = (
  ops: Operations,
  x: Tensor,
  { attentionNorm, inProjection }: TransformerLayer,
  cache: KvCache,
): Tensor => ops.attention(ops.linear(ops.layerNorm(x, attentionNorm), inProjection), cache)

/** The rest of the layer that `x` came into; `heads` is what its attention gave. Changes no state. */
export const transformerLayerEnd = (
  ops: Operations,
  x: Tensor,
  heads: Tensor,
  layer: TransformerLayer,
): Tensor => {
  const attended = ops.linear(heads, layer.outProjection, { residual: x, scale: layer.attentionScale ?? 1 })
  const inner = ops.linear(ops.layerNorm(attended, layer.feedForwardNorm), layer.linear1, {
    activation: 'gelu',
  })
  return ops.linear(inner, layer.linear2, { residual: attended, scale: layer.feedForwardScale ?? 1 })
}

/** Loads `<prefix>layers.N.*` for every N the checkpoint has; shapes must agree with `dModel`. */
export const loadTransformer = async (
  checkpoint: Checkpoint,
  prefix: string,
  kernels: Pick<Kernels, 'vector' | 'matrix'>,
  dModel: number,
  precision: Precision = 'stored',
): Promise<TransformerLayer[]> => {
  const layers: TransformerLayer[] = []
  const count = checkpoint.countLayers(prefix)
  for (let n = 0; n < count; n++) {
    const layer = `${prefix}layers.${n}.`
    const matrix = async (name: string, outputs: number, inputs: number): Promise<Matrix> =>
      checkpoint.lend(`${layer}${name}.weight`, [outputs, inputs], (weight) =>
        kernels.matrix({ weight, precision }),
      )
    const vector = async (name: string): Promise<Vector> =>
      kernels.vector(await checkpoint.values(`${layer}${name}`, [dModel]))
    const norm = async (name: string): Promise<Norm> => ({
      weight: await vector(`${name}.weight`),
      bias: await vector(`${name}.bias`),
      eps: transformerNormEps,
    })
    const layerScale = async (name: string): Promise<Vector | undefined> =>
      checkpoint.has(`${layer}${name}.scale`) ? vector(`${name}.scale`) : undefined
    const [feedForward = 0] = checkpoint.shape(`${layer}linear1.weight`)
    layers.push({
      attentionNorm: await norm('norm1'),
      inProjection: await matrix('self_attn.in_proj', 3 * dModel, dModel),
      outProjection: await matrix('self_attn.out_proj', dModel, dModel),
      attentionScale: await layerScale('layer_scale_1'),
      feedForwardNorm: await norm('norm2'),
      linear1: await matrix('linear1', feedForward, dModel),
      linear2: await matrix('linear2', dModel, feedForward),
      feedForwardScale: await layerScale('layer_scale_2'),
    })
  }
  return layers
}
