import { createCpuKernels } from '@pocket/kernels-cpu'
import type { StoredWeight } from '@pocket/nn'
import { noise } from '@tooling/fixtures'
import { type Build, outputs } from '@tooling/one-tap'
import { describe, expect, test } from 'vitest'
import { levels } from './levels.ts'

const weightsOf = (shape: number[]): Record<'F16' | 'F32', StoredWeight> => {
  const values = new Float16Array(
    noise(
      shape.reduce((product, size) => product * size, 1),
      2,
    ),
  )
  return {
    F16: { dtype: 'F16', shape, bytes: new Uint8Array(values.buffer) },
    F32: { dtype: 'F32', shape, bytes: new Uint8Array(new Float32Array(values).buffer) },
  }
}

const builds: Record<string, { shape: number[]; build: (weight: StoredWeight) => Build }> = {
  'a matrix': {
    shape: [9, 70],
    build: (weight) => (on) => {
      const matrix = on.matrix({ weight })
      return (ops) => ops.linear(ops.input('x', 2, 70), matrix)
    },
  },
  'a matrix rounded to bfloat16': {
    shape: [9, 70],
    build: (weight) => (on) => {
      const matrix = on.matrix({ weight, precision: 'bf16' })
      return (ops) => ops.linear(ops.input('x', 2, 70), matrix)
    },
  },
  'a matrix of eight bits': {
    shape: [9, 70],
    build: (weight) => (on) => {
      const matrix = on.matrix({ weight, precision: 'int8' })
      return (ops) => ops.linear(ops.input('x', 2, 70), matrix)
    },
  },
  'a convolution': {
    shape: [9, 10, 3],
    build: (weight) => (on) => {
      const weights = on.convolution({ weight })
      const state = on.convolutionState(weights)
      return (ops) => ops.convolution(ops.input('x', 4, 10), weights, state)
    },
  },
  'a transposed convolution': {
    shape: [10, 9, 4],
    build: (weight) => (on) => {
      const weights = on.transposedConvolution({ weight, stride: 2 })
      const state = on.convolutionState(weights)
      return (ops) => ops.transposedConvolution(ops.input('x', 4, 10), weights, state)
    },
  },
  'a transposed convolution by channels': {
    shape: [10, 1, 4],
    build: (weight) => (on) => {
      const weights = on.transposedConvolution({ weight, stride: 2, depthwise: true })
      const state = on.convolutionState(weights)
      return (ops) => ops.transposedConvolution(ops.input('x', 4, 10), weights, state)
    },
  },
}

describe.each(levels)('float16 weights, $title', ({ level, missing }) => {
  test.skipIf(missing).each(Object.entries(builds))(
    '%s is what it stands for',
    async (_, { shape, build }) => {
      const kernels = await createCpuKernels({ simd: level })
      const { F16, F32 } = weightsOf(shape)
      expect(await outputs(kernels, build(F16), 2)).toEqual(await outputs(kernels, build(F32), 2))
      kernels.dispose()
    },
  )
})
