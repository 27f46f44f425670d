import {
  backboneLayers,
  codecConvolutions,
  codecLayers,
  codecPositions,
  flowHeadMatrices,
  stepMatrices,
} from './full-shapes.ts'
import { promptTokens, voicePositions } from './sizes.ts'

/** The least that the stages of the model of full size have to do. */
export interface WorkOfStages {
  /** Bytes that a frame cannot but read: each weight once, keys and values of all positions. */
  readonly bytes: { readonly step: number; readonly flow: number }
  /** Multiplications and additions of products and of attention; `decodeIntegers`: of those of `decode`, on integers. */
  readonly operations: { readonly prompt: number; readonly decode: number; readonly decodeIntegers: number }
}

/** How the weights are kept. `int8`: only those of the language model's layers. */
export type KeptAs = 'f32' | 'bf16' | 'int8'

/** What the codec computes in. `int16`: its products, but for the last convolution, whose output is what is heard. */
export type CodecArithmetic = 'f32' | 'int16'

const bytesPerWeight: Record<KeptAs, number> = { f32: 4, bf16: 2, int8: 1 }

export const fullWork = (kept: KeptAs, codec: CodecArithmetic): WorkOfStages => {
  const other = kept === 'int8' ? 'bf16' : kept
  const positions = voicePositions + promptTokens
  return {
    bytes: {
      step:
        layerWeights * bytesPerWeight[kept] +
        weightsOf(stepMatrices) * bytesPerWeight[other] +
        backboneLayers.length * positions * keysAndValues * 4,
      flow: weightsOf(flowHeadMatrices) * bytesPerWeight[other],
    },
    operations: {
      prompt: promptOperations,
      decode: codecProducts + lastConvolution + codecAttention,
      decodeIntegers: codec === 'int16' ? codecProducts : 0,
    },
  }
}

const product = (shape: readonly number[]): number => shape.reduce((all, size) => all * size, 1)

const weightsOf = (matrices: readonly (readonly number[])[]): number =>
  matrices.reduce((sum, shape) => sum + product(shape), 0)

const layerWeights = backboneLayers.reduce((sum, layer) => sum + weightsOf(Object.values(layer)), 0)

/** Of one position in one layer: two thirds of what the projection gives. */
const keysAndValues = (2 / 3) * backboneLayers[0]!.inProjection[0]!

/** Of the last layer a prompt needs no more than the projection: its caches are all that is kept. */
const promptOperations = (() => {
  const { inProjection: _, ...unused } = backboneLayers.at(-1)!
  const weights = layerWeights - weightsOf(Object.values(unused))
  const meanPositions = voicePositions + (promptTokens + 1) / 2
  return promptTokens * (2 * weights + (backboneLayers.length - 1) * 2 * keysAndValues * meanPositions)
})()

/** Positions that a position of the codec attends to. */
const codecWindow = 250

const codecAttention = codecLayers.reduce(
  (sum, { outProjection }) => sum + codecPositions * 4 * outProjection[0]! * codecWindow,
  0,
)

/** Of the layers and of each convolution. */
const [codecProducts, lastConvolution] = (() => {
  let rows = codecPositions
  let operations = codecLayers.reduce((sum, layer) => sum + rows * 2 * weightsOf(Object.values(layer)), 0)
  let last = 0
  for (const { isTransposed, shape } of codecConvolutions) {
    last = 2 * rows * product(shape)
    operations += last
    if (isTransposed) rows *= shape[2]! / 2
  }
  return [operations - last, last] as const
})()
