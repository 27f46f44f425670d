import type { ConvolutionState, KvCache } from './states.ts'
import { isTensor, type Tensor } from './tensor.ts'
import type { Convolution, Matrix, TransposedConvolution, Vector } from './weights.ts'

/** Elementwise functions: GELU is the exact one (erf), ELU has α = 1. */
export type Activation = 'none' | 'elu' | 'gelu' | 'silu'

/** A norm over the columns of each row. Scale and bias may be missing (no affine part). */
export interface Norm {
  readonly weight?: Vector
  readonly bias?: Vector
  readonly eps: number
}

/**
 * One step of a plan, shapes checked, in terms that every executor implements:
 *
 * - `linear`: `out = residual + scale ⊙ activation(x Wᵀ + b)`. `scale` is a number, a vector over the columns
 *   (LayerScale) or a tensor of out's shape (an adaLN gate).
 * - `layerNorm`: `out = norm(x)`, then `· (1 + scale) + shift` where there is a modulation (adaLN).
 * - `attention`: `qkv` is `[rows, 3 · heads · headDim]`, q | k | v. Rotates q and k to the cache's positions
 *   (interleaved pairs), writes k and v of all rows, then each row attends, scores / √headDim.
 * - `convolution`: time runs along the rows; the state's rows come before x. `out = residual + conv(activation(x))`.
 * - `transposedConvolution`: `out[t · stride + j] = b + Σᵢ W[:, :, i · stride + j]ᵀ · activation(x)[t − i]`.
 * - `addVector`: `out = activation(x + vector)`, the vector added to every row.
 */
export type Operation =
  | {
      readonly kind: 'linear'
      readonly x: Tensor
      readonly matrix: Matrix
      readonly activation: Activation
      readonly scale: number | Vector | Tensor
      readonly residual: Tensor | undefined
      readonly out: Tensor
    }
  | {
      readonly kind: 'layerNorm'
      readonly x: Tensor
      readonly norm: Norm
      readonly modulation: { readonly shift: Tensor; readonly scale: Tensor } | undefined
      readonly out: Tensor
    }
  | { readonly kind: 'attention'; readonly qkv: Tensor; readonly cache: KvCache; readonly out: Tensor }
  | {
      readonly kind: 'convolution'
      readonly x: Tensor
      readonly weights: Convolution
      readonly state: ConvolutionState
      readonly inputActivation: Activation
      readonly residual: Tensor | undefined
      readonly out: Tensor
    }
  | {
      readonly kind: 'transposedConvolution'
      readonly x: Tensor
      readonly weights: TransposedConvolution
      readonly state: ConvolutionState
      readonly inputActivation: Activation
      readonly out: Tensor
    }
  | {
      readonly kind: 'addVector'
      readonly x: Tensor
      readonly vector: Vector
      readonly activation: Activation
      readonly out: Tensor
    }

/** The tensors an operation reads, bases not resolved. */
export const operands = (operation: Operation): Tensor[] => {
  switch (operation.kind) {
    case 'linear': {
      const { x, residual, scale } = operation
      const gate = isTensor(scale) ? [scale] : []
      return residual ? [x, residual, ...gate] : [x, ...gate]
    }
    case 'layerNorm': {
      const { x, modulation } = operation
      return modulation ? [x, modulation.shift, modulation.scale] : [x]
    }
    case 'attention':
      return [operation.qkv]
    case 'convolution':
      return operation.residual ? [operation.x, operation.residual] : [operation.x]
    case 'transposedConvolution':
    case 'addVector':
      return [operation.x]
    default:
      return operation satisfies never
  }
}
