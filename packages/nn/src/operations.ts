import { KernelError } from './errors.ts'
import type { Activation, Norm, Operation } from './operation.ts'
import { type ConvolutionState, historyRows, type KvCache } from './states.ts'
import { isTensor, newTensor, type Tensor } from './tensor.ts'
import type { Convolution, Matrix, TransposedConvolution, Vector } from './weights.ts'

/**
 * The vocabulary that forward passes are written in. Each call appends one operation to the plan and returns the
 * tensor it will fill; shapes are checked here, once for all executors. Throws KernelError `shape`.
 */
export class Operations {
  readonly #operations: Operation[]
  readonly #inputs: Map<string, Tensor>
  readonly #taps: Map<string, Tensor>

  constructor(operations: Operation[], inputs: Map<string, Tensor>, taps: Map<string, Tensor>) {
    this.#operations = operations
    this.#inputs = inputs
    this.#taps = taps
  }

  /** A tensor that the caller fills before each run, `[rows, columns]`. */
  input(name: string, rows: number, columns: number): Tensor {
    check(!this.#inputs.has(name), `two inputs are called ${name}`)
    const out = newTensor(rows, columns)
    this.#inputs.set(name, out)
    return out
  }

  /** Keeps `x` readable under `name` after a run, and returns it. */
  tap(name: string, x: Tensor): Tensor {
    check(!this.#taps.has(name), `two taps are called ${name}`)
    check(x.base === x, `${name} is a view; only whole tensors can be tapped`)
    this.#taps.set(name, x)
    return x
  }

  /** `residual + scale ⊙ activation(x Wᵀ + b)`, `[x.rows, outputs]` */
  linear(
    x: Tensor,
    matrix: Matrix,
    options: { activation?: Activation; scale?: number | Vector | Tensor; residual?: Tensor } = {},
  ): Tensor {
    const { activation = 'none', scale = 1, residual } = options
    check(x.columns === matrix.inputs, `linear: ${matrix.inputs} inputs expected, x has ${x.columns} columns`)
    const out = newTensor(x.rows, matrix.outputs)
    if (residual) checkSameShape('linear: residual', residual, out)
    if (typeof scale === 'object') {
      if (isTensor(scale)) checkSameShape('linear: scale', scale, out)
      else check(scale.length === out.columns, `linear: scale has ${scale.length} values for ${out.columns}`)
    }
    return this.#push({ kind: 'linear', x, matrix, activation, scale, residual, out })
  }

  /** Each row normalised over its columns; with a modulation `norm(x) · (1 + scale) + shift` (adaLN). */
  layerNorm(x: Tensor, norm: Norm, modulation?: { shift: Tensor; scale: Tensor }): Tensor {
    for (const vector of [norm.weight, norm.bias]) {
      check(!vector || vector.length === x.columns, `layerNorm: ${vector?.length} values for ${x.columns}`)
    }
    if (modulation) {
      checkSameShape('layerNorm: shift', modulation.shift, x)
      checkSameShape('layerNorm: scale', modulation.scale, x)
    }
    return this.#push({ kind: 'layerNorm', x, norm, modulation, out: newTensor(x.rows, x.columns) })
  }

  /** Self-attention of `qkv` `[rows, 3 · heads · headDim]` over the cache, which it extends: `[rows, heads · headDim]` */
  attention(qkv: Tensor, cache: KvCache): Tensor {
    const width = cache.heads * cache.headDim
    check(qkv.columns === 3 * width, `attention: ${3 * width} columns expected, qkv has ${qkv.columns}`)
    const needed = cache.window === undefined ? qkv.rows : cache.window + qkv.rows
    check(needed <= cache.capacity, `attention: ${needed} positions needed, the cache has ${cache.capacity}`)
    return this.#push({ kind: 'attention', qkv, cache, out: newTensor(qkv.rows, width) })
  }

  /** `residual + conv(activation(x))` over the rows: `[x.rows / stride, outputChannels]`. x.rows is a multiple of the stride. */
  convolution(
    x: Tensor,
    weights: Convolution,
    state: ConvolutionState,
    options: { inputActivation?: Activation; residual?: Tensor } = {},
  ): Tensor {
    const { inputActivation = 'none', residual } = options
    checkConvolution('convolution', x, weights, state)
    check(x.rows % weights.stride === 0, `convolution: ${x.rows} rows are no multiple of ${weights.stride}`)
    const out = newTensor(x.rows / weights.stride, weights.outputChannels)
    if (residual) checkSameShape('convolution: residual', residual, out)
    return this.#push({ kind: 'convolution', x, weights, state, inputActivation, residual, out })
  }

  /** The transposed convolution of `activation(x)`: `[x.rows · stride, outputChannels]` */
  transposedConvolution(
    x: Tensor,
    weights: TransposedConvolution,
    state: ConvolutionState,
    options: { inputActivation?: Activation } = {},
  ): Tensor {
    const { inputActivation = 'none' } = options
    checkConvolution('transposedConvolution', x, weights, state)
    const out = newTensor(x.rows * weights.stride, weights.outputChannels)
    return this.#push({ kind: 'transposedConvolution', x, weights, state, inputActivation, out })
  }

  /** `activation(x + vector)`, the vector added to every row. */
  addVector(x: Tensor, vector: Vector, activation: Activation = 'none'): Tensor {
    check(vector.length === x.columns, `addVector: ${vector.length} values for ${x.columns} columns`)
    return this.#push({ kind: 'addVector', x, vector, activation, out: newTensor(x.rows, x.columns) })
  }

  /** A view of `count` columns of `x` from `start`; no data moves. */
  columns(x: Tensor, start: number, count: number): Tensor {
    check(
      start >= 0 && count > 0 && start + count <= x.columns,
      `columns ${start} + ${count} of ${x.columns}`,
    )
    return { ...x, columns: count, columnOffset: x.columnOffset + start }
  }

  /** A view of `count` rows of `x` from `start`; no data moves. */
  rows(x: Tensor, start: number, count: number): Tensor {
    check(start >= 0 && count > 0 && start + count <= x.rows, `rows ${start} + ${count} of ${x.rows}`)
    return { ...x, rows: count, rowOffset: x.rowOffset + start }
  }

  #push(operation: Operation): Tensor {
    this.#operations.push(operation)
    return operation.out
  }
}

const check = (holds: boolean, message: string): void => {
  if (!holds) throw new KernelError('shape', message)
}

const checkSameShape = (what: string, x: Tensor, out: Tensor): void =>
  check(
    x.rows === out.rows && x.columns === out.columns,
    `${what} is [${x.rows}, ${x.columns}], expected [${out.rows}, ${out.columns}]`,
  )

const checkConvolution = (
  what: string,
  x: Tensor,
  weights: Convolution | TransposedConvolution,
  state: ConvolutionState,
): void => {
  check(
    x.columns === weights.inputChannels,
    `${what}: ${weights.inputChannels} channels expected, x has ${x.columns} columns`,
  )
  check(
    state.rows === historyRows(weights) && state.columns === weights.inputChannels,
    `${what}: the state belongs to other weights`,
  )
}
