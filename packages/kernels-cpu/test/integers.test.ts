import { createCpuKernels } from '@pocket/kernels-cpu'
import { type Kernels, record, type StoredWeight } from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { levels } from './levels.ts'

/**
 * Products over integers against float64, at every level. What they may be off by follows from the steps of both
 * operands: |Σ w x − Σ ŵ x̂| ≤ Σ |w| |x − x̂| + |x̂| |w − ŵ|, each value being half a step away at most. The steps are
 * the greatest |w| of an output over 127, or larger where sums of 16-bit weights ask for it, and the greatest |x| of a
 * row over 8191.
 */
const formats = {
  int8: { weightLimit: 127, inputLimit: 8191 },
  int16: { weightLimit: 32767, inputLimit: 8191 },
} as const
type Format = keyof typeof formats

interface Case {
  readonly format: Format
  readonly rows: number
  readonly inputs: number
  readonly outputs: number
  readonly x: Float32Array
  readonly w: Float32Array
}

const multiply = async (
  kernels: Kernels,
  { format, rows, inputs, outputs, x, w }: Case,
  dtype: 'F32' | 'BF16',
) => {
  const bytes = dtype === 'F32' ? new Uint8Array(w.slice().buffer) : new Uint8Array(f32ToBf16(w).buffer)
  const weight: StoredWeight = { dtype, shape: [outputs, inputs], bytes }
  const matrix = kernels.matrix({ weight, precision: format })
  const plan = kernels.plan(
    record('integers', (ops) => {
      ops.tap('y', ops.linear(ops.input('x', rows, inputs), matrix))
    }),
  )
  plan.write('x', x)
  plan.run()
  const { data } = await plan.read('y')
  plan.dispose()
  return data
}

const magnitudes = (values: Float32Array) => ({
  greatest: values.reduce((greatest, value) => Math.max(greatest, Math.abs(value)), 0),
  sum: values.reduce((sum, value) => sum + Math.abs(value), 0),
})

/** The exact product of row `r` and output `o`, and how far from it the integers may be. */
const expected = ({ format, inputs, x, w }: Case, r: number, o: number): { y: number; bound: number } => {
  const { weightLimit, inputLimit } = formats[format]
  const row = x.subarray(r * inputs, (r + 1) * inputs)
  const weights = w.subarray(o * inputs, (o + 1) * inputs)
  const [ofRow, ofWeights] = [magnitudes(row), magnitudes(weights)]
  const inputStep = ofRow.greatest / inputLimit
  // All weights as one sum, which is no less than any tap's; a tap has 512 inputs at most.
  const sumStep = ofWeights.sum / (2 ** 31 / inputLimit - 260)
  const weightStep = Math.max(ofWeights.greatest / weightLimit, sumStep)
  const y = row.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0)
  const steps = ofWeights.sum * inputStep + (ofRow.sum + inputs * inputStep) * weightStep
  // Half of the steps; float32 rounds the scales and the sums; and what is below 2⁻¹¹¹ counts as nothing.
  const rounding = 1e-5 * ofRow.greatest * ofWeights.sum
  const vanished = 2 ** -111 * (ofRow.sum + ofWeights.sum)
  return { y, bound: steps / 2 + rounding + vanished + 2 ** -149 }
}

const expectBound = (test: Case, y: Float32Array): void => {
  for (let r = 0; r < test.rows; r++) {
    for (let o = 0; o < test.outputs; o++) {
      const { y: exact, bound } = expected(test, r, o)
      const found = y[r * test.outputs + o] ?? Number.NaN
      if (!(Math.abs(found - exact) <= bound)) {
        expect.fail(`row ${r}, output ${o}: ${found}, exactly ${exact}, bound ${bound}`)
      }
    }
  }
}

/** Held against the terms of the sums, for those may cancel. */
const expectRounding = (
  { rows, inputs, outputs, x, w }: Case,
  y: Float32Array,
  oracle: Float32Array,
): void => {
  for (let r = 0; r < rows; r++) {
    const { greatest } = magnitudes(x.subarray(r * inputs, (r + 1) * inputs))
    for (let o = 0; o < outputs; o++) {
      const { sum } = magnitudes(w.subarray(o * inputs, (o + 1) * inputs))
      const [found = Number.NaN, wanted = Number.NaN] = [y[r * outputs + o], oracle[r * outputs + o]]
      const bound = 1e-6 * greatest * sum + 2 ** -149
      if (!(Math.abs(found - wanted) <= bound))
        expect.fail(`row ${r}, output ${o}: ${found}, oracle ${wanted}`)
    }
  }
}

/** Numbers as rows and weights have them: of order one, tiny, or none; and now and then one that dwarfs the rest. */
const values = (length: number): fc.Arbitrary<Float32Array> =>
  fc
    .record({
      row: fc.float32Array({ minLength: length, maxLength: length, min: -1, max: 1, noNaN: true }),
      scale: fc.constantFrom(0, 2 ** -149, 2 ** -130, 2 ** -100, 1e-3, 1, 1e6),
      outlier: fc.constantFrom(0, 1, -1000, 3e7),
      at: fc.nat({ max: length - 1 }),
    })
    .map(({ row, scale, outlier, at }) => {
      const scaled = row.map((value) => value * scale)
      scaled[at] = (scaled[at] ?? 0) + outlier * scale
      return scaled
    })

const sizes = fc.record({
  format: fc.constantFrom<Format>('int8', 'int16'),
  rows: fc.integer({ min: 1, max: 9 }),
  inputs: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 500, max: 530 })),
  outputs: fc.integer({ min: 1, max: 40 }),
})

const cases: fc.Arbitrary<Case> = sizes.chain((size) =>
  fc
    .tuple(joined(size.rows, size.inputs), joined(size.outputs, size.inputs))
    .map(([x, w]) => ({ ...size, x, w })),
)

function joined(rows: number, columns: number): fc.Arbitrary<Float32Array> {
  return fc
    .array(values(columns), { minLength: rows, maxLength: rows })
    .map((parts) => Float32Array.from(parts.flatMap((part) => [...part])))
}

describe.each(levels)('integers, $title', (entry) => {
  const test = it.skipIf(entry.missing)
  let kernels: Kernels
  let oracle: Kernels
  beforeAll(async () => {
    if (!entry.missing) kernels = await createCpuKernels({ simd: entry.level })
    oracle = await createCpuKernels({ simd: 'scalar' })
  })

  test('are within their steps of float64, and of the oracle to rounding', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (test) => {
        const y = await multiply(kernels, test, 'F32')
        expectBound(test, y)
        // Both take the same integers: what is left are float32 sums of taps.
        expectRounding(test, y, await multiply(oracle, test, 'F32'))
      }),
      { numRuns: entry.level === 'scalar' ? 40 : 120 },
    )
  })

  test.each(['int8', 'int16'] as const)(
    '%s: the largest sums there can be do not overflow',
    async (format) => {
      for (const inputs of [512, 516, 1024, 4096]) {
        for (const rows of [1, 4]) {
          const x = new Float32Array(rows * inputs).fill(1e10)
          const w = new Float32Array(2 * inputs).fill(-1e-10)
          w.fill(1e-10, inputs)
          const y = await multiply(kernels, { format, rows, inputs, outputs: 2, x, w }, 'F32')
          for (let r = 0; r < rows; r++) {
            expect(Math.abs((y[2 * r] ?? 0) / -inputs - 1)).toBeLessThan(1e-2)
            expect(Math.abs((y[2 * r + 1] ?? 0) / inputs - 1)).toBeLessThan(1e-2)
          }
        }
      }
    },
  )

  test('rows and weights of zeros give zeros, and infinity or NaN show in their row and nowhere else', async () => {
    const [rows, inputs, outputs] = [5, 20, 17]
    const x = new Float32Array(rows * inputs).fill(0.5, 2 * inputs)
    x[2 * inputs + 7] = Number.NaN
    x[3 * inputs + 19] = Number.NEGATIVE_INFINITY
    const w = new Float32Array(outputs * inputs).fill(0.25, inputs)
    for (const format of ['int8', 'int16'] as const) {
      const y = await multiply(kernels, { format, rows, inputs, outputs, x, w }, 'F32')
      expect([...y.subarray(0, 2 * outputs)]).toEqual(Array(2 * outputs).fill(0))
      expect(y.subarray(2 * outputs + 1, 4 * outputs).some(Number.isFinite)).toBe(y[3 * outputs] === 0)
      expect(y[4 * outputs]).toBe(0)
      for (const value of y.subarray(4 * outputs + 1)) expect(value).toBeCloseTo(2.5, 4)
    }
  })

  test('weights in bfloat16 become the integers of the same values in float32', async () => {
    const w = Float32Array.from({ length: 37 * 70 }, (_, i) => Math.fround(((i * 37) % 101) - 50) / 64)
    const x = Float32Array.from({ length: 3 * 70 }, (_, i) => Math.sin(i))
    for (const format of ['int8', 'int16'] as const) {
      const test = { format, rows: 3, inputs: 70, outputs: 37, x, w }
      expect(await multiply(kernels, test, 'BF16')).toEqual(await multiply(kernels, test, 'F32'))
    }
  })
})

const both = levels.filter(({ level }) => level !== 'scalar')

it.skipIf(both.some(({ missing }) => missing))('both builds give the same bits', async () => {
  const executors = await Promise.all(both.map(({ level }) => createCpuKernels({ simd: level })))
  await fc.assert(
    fc.asyncProperty(cases, async (test) => {
      const [first, second] = await Promise.all(executors.map((kernels) => multiply(kernels, test, 'F32')))
      expect(first).toEqual(second)
    }),
    { numRuns: 60 },
  )
})
