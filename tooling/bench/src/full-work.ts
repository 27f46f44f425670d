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
  /** Multiplications and additions of products and of attention. */
  readonly operations: { readonly prompt: number; readonly decode: number }
}

/** How the weights are kept. `int8`: only those of the language model's layers. */
export type KeptAs = 'f32' | 'bf16' | 'int8'

const bytesPerWeight: Record<KeptAs, number> = { f32: 4, bf16: 2, int8: 1 }

export const fullWork = (kept: KeptAs): WorkOfStages => {
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
    operations: { prompt: promptOperations, decode: codecOperations() },
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

const codecOperations = (): number => {
  let rows = codecPositions
  let operations = 0
  for (const layer of codecLayers) {
    const width = layer.outProjection[0]!
    operations += rows * (2 * weightsOf(Object.values(layer)) + 4 * width * codecWindow)
  }
  for (const { isTransposed, shape } of codecConvolutions) {
    operations += 2 * rows * product(shape)
    if (isTransposed) rows *= shape[2]! / 2
  }
  return operations
}
