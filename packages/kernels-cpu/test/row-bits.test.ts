import { type CpuKernels, createCpuKernels } from '@pocket/kernels-cpu'
import { type Matrix, record } from '@pocket/nn'
import { noise } from '@tooling/fixtures'
import { stored } from '@tooling/one-tap'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { levels } from './levels.ts'

/** More than three tiles of six; what is left over takes every form that there is. */
const mostRows = 21
/** Two sums for each output, which are not equally long where they are integers. */
const inputs = 522

/**
 * A stream must not sound otherwise for how it was cut: which tile a row falls into, and what else is in it, is not to
 * be heard. Kernels of one row and of many sum in the same order.
 */
describe.each(levels.filter(({ level }) => level !== 'scalar'))('a row of a product, $title', (entry) => {
  const test = it.skipIf(entry.missing)
  let kernels: CpuKernels
  beforeAll(async () => {
    if (!entry.missing) kernels = await createCpuKernels({ simd: entry.level, threads: 1 })
  })
  afterAll(() => kernels?.dispose())

  const product = async (matrix: Matrix, x: Float32Array): Promise<Uint32Array> => {
    const plan = kernels.plan(
      record('rows', (ops) => {
        ops.tap('y', ops.linear(ops.input('x', x.length / inputs, inputs), matrix, { activation: 'silu' }))
      }),
    )
    plan.write('x', x)
    plan.run()
    const { data } = await plan.read('y')
    plan.dispose()
    return new Uint32Array(data.buffer, data.byteOffset, data.length)
  }

  describe.each(['f32', 'bf16', 'int8', 'int16'] as const)('%s', (precision) => {
    // Whole panels and parts of one; streams of four panels, and of six halves, that come out even and that do not.
    test.each([4, 7, 8, 9, 23, 24, 31, 32, 33, 43, 48, 51, 65])(
      'has the same bits in any number of rows, %i outputs',
      async (outputs) => {
        const bias = noise(outputs, 2)
        const matrix = kernels.matrix({ weight: stored([outputs, inputs], 1, 'F32'), bias, precision })
        const x = noise(mostRows * inputs, 3)
        const all = await product(matrix, x)
        expect(new Set(all).size).toBeGreaterThan(all.length / 2)
        for (let rows = 1; rows < mostRows; rows++) {
          const first = mostRows - rows
          const some = await product(matrix, x.subarray(first * inputs))
          expect(some, `the last ${rows} rows`).toEqual(all.subarray(first * outputs))
        }
      },
    )
  })
})
