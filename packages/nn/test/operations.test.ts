import { type ConvolutionState, KernelError, type KvCache, type Operations, record } from '@pocket/nn'
import { describe, expect, it } from 'vitest'
import { matrix, vector } from './fake-weights.ts'

const convolution = {
  inputChannels: 3,
  outputChannels: 5,
  kernel: 8,
  stride: 4,
  dilation: 1,
  padding: 'zero',
} as const
const state = (rows: number, columns: number): ConvolutionState => ({
  rows,
  columns,
  reset() {},
  dispose() {},
})
const cache = (window?: number): KvCache => ({
  heads: 2,
  headDim: 4,
  capacity: 10,
  window,
  maxPeriod: 10000,
  position: 0,
  load() {},
  read: async () => ({ k: new Float32Array(), v: new Float32Array() }),
  reset() {},
  dispose() {},
})

describe('shapes', () => {
  it('follow from the weights', () => {
    record('shapes', (ops) => {
      const x = ops.input('x', 6, 8)
      expect(ops.linear(x, matrix(5, 8))).toMatchObject({ rows: 6, columns: 5 })
      expect(ops.layerNorm(x, { eps: 1e-5 })).toMatchObject({ rows: 6, columns: 8 })
      expect(ops.attention(ops.linear(x, matrix(24, 8)), cache())).toMatchObject({ rows: 6, columns: 8 })
      const sound = ops.input('sound', 12, 3)
      expect(ops.convolution(sound, convolution, state(4, 3))).toMatchObject({ rows: 3, columns: 5 })
      const transposed = { inputChannels: 3, outputChannels: 2, kernel: 8, stride: 4, depthwise: false }
      expect(ops.transposedConvolution(sound, transposed, state(1, 3))).toMatchObject({
        rows: 48,
        columns: 2,
      })
    })
  })

  it('of views are inside their base', () => {
    const { operations } = record('views', (ops) => {
      const x = ops.input('x', 6, 8)
      ops.layerNorm(ops.columns(ops.rows(x, 2, 3), 4, 2), { eps: 1e-5 })
    })
    expect(operations[0]).toMatchObject({ x: { rows: 3, columns: 2, rowOffset: 2, columnOffset: 4 } })
  })

  const wrong: [string, (ops: Operations) => unknown][] = [
    ['linear: 8 inputs expected, x has 7', (ops) => ops.linear(ops.input('x', 2, 7), matrix(5, 8))],
    [
      'linear: residual is [2, 4], expected [2, 5]',
      (ops) => ops.linear(ops.input('x', 2, 8), matrix(5, 8), { residual: ops.input('r', 2, 4) }),
    ],
    [
      'linear: scale has 4 values for 5',
      (ops) => ops.linear(ops.input('x', 2, 8), matrix(5, 8), { scale: vector(4) }),
    ],
    [
      'layerNorm: 3 values for 8',
      (ops) => ops.layerNorm(ops.input('x', 2, 8), { weight: vector(3), eps: 0 }),
    ],
    ['attention: 24 columns expected', (ops) => ops.attention(ops.input('x', 2, 8), cache())],
    ['attention: 11 positions needed', (ops) => ops.attention(ops.input('x', 11, 24), cache())],
    ['attention: 11 positions needed', (ops) => ops.attention(ops.input('x', 3, 24), cache(8))],
    [
      '10 rows are no multiple of 4',
      (ops) => ops.convolution(ops.input('x', 10, 3), convolution, state(4, 3)),
    ],
    [
      'the state belongs to other weights',
      (ops) => ops.convolution(ops.input('x', 8, 3), convolution, state(2, 3)),
    ],
    ['addVector: 3 values for 8', (ops) => ops.addVector(ops.input('x', 2, 8), vector(3))],
    ['columns 6 + 3 of 8', (ops) => ops.columns(ops.input('x', 2, 8), 6, 3)],
    ['rows 1 + 2 of 2', (ops) => ops.rows(ops.input('x', 2, 8), 1, 2)],
    ['a tensor of [0, 8]', (ops) => ops.input('x', 0, 8)],
    ['a view', (ops) => ops.tap('t', ops.columns(ops.input('x', 2, 8), 0, 4))],
    ['two inputs are called x', (ops) => [ops.input('x', 1, 1), ops.input('x', 1, 1)]],
  ]
  it.each(wrong)('that do not fit are refused: %s', (message, describePlan) => {
    const attempt = (): unknown => record('wrong', describePlan)
    expect(attempt).toThrow(KernelError)
    expect(attempt).toThrow(message)
  })
})

it('refuses one name for an input and a tap', () => {
  expect(() =>
    record('twice', (ops) => {
      ops.tap('x', ops.linear(ops.input('x', 1, 2), matrix(2, 2)))
    }),
  ).toThrow('x is an input and a tap')
})
