import { fullWeights } from '@tooling/fixtures'

/** The shapes of the model of full size, by the names of its tensors. */
const shapes = new Map([...fullWeights()].map(({ name, shape }) => [name, shape]))

/** Of all tensors whose name matches, in the order of the numbers in them. */
const shapesOf = (pattern: RegExp): (readonly number[])[] =>
  [...shapes]
    .filter(([name]) => pattern.test(name))
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([, shape]) => shape)

/** `[outputs, inputs]` of one transformer layer's matrices, in the order of their use. */
export interface LayerShapes {
  readonly inProjection: readonly number[]
  readonly outProjection: readonly number[]
  readonly linear1: readonly number[]
  readonly linear2: readonly number[]
}

const layersOf = (prefix: string): LayerShapes[] => {
  const [inProjections, outProjections, linears1, linears2] = [
    'self_attn.in_proj',
    'self_attn.out_proj',
    'linear1',
    'linear2',
  ].map((name) => shapesOf(new RegExp(`^${prefix}transformer\\.layers\\.\\d+\\.${name}\\.weight$`)))
  return inProjections!.map((inProjection, layer) => ({
    inProjection,
    outProjection: outProjections![layer]!,
    linear1: linears1![layer]!,
    linear2: linears2![layer]!,
  }))
}

/** The language model's layers. */
export const backboneLayers = layersOf('flow_lm\\.')

/** The layers of the codec's decoder. */
export const codecLayers = layersOf('mimi\\.decoder_transformer\\.')

/** The decoder's convolutions, PyTorch's shapes: `[outputs, inputs, kernel]`, transposed ones `[inputs, outputs, kernel]`. */
export const codecConvolutions = [...shapes.keys()]
  .filter((name) => /^mimi\.decoder\.model\..*\.weight$/.test(name))
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  .map((name) => ({ isTransposed: name.includes('convtr'), shape: shapes.get(name)! }))

/**
 * `[outputs, inputs]` of the flow head's matrices that a frame passes: those of its time embeddings are not among them,
 * since what they give is the same for every frame.
 */
export const flowHeadMatrices = shapesOf(/^flow_lm\.flow_net\.(?!time_embed).*\.weight$/).filter(
  ({ length }) => length === 2,
)

/** What a step has besides its layers: a latent's way in, and the end-of-speech logit. */
export const stepMatrices = shapesOf(/^flow_lm\.(input_linear|out_eos)\.weight$/)

/** Positions of the codec's transformer in a frame: half the kernel of the upsampling before it. */
export const codecPositions = shapesOf(/^mimi\.upsample\.convtr/)[0]![2]! / 2
