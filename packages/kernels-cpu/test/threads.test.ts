import { type CpuKernels, createCpuKernels } from '@pocket/kernels-cpu'
import { noise } from '@tooling/fixtures'
import { type Build, outputs, stored } from '@tooling/one-tap'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { levels } from './levels.ts'

/** Sizes are large enough to be shared out, and odd. */
const between = (min: number, max: number) => fc.integer({ min, max })
const numRuns = 12

describe.each(levels.filter(({ level }) => level !== 'scalar'))('$title, bit for bit', (entry) => {
  const test = it.skipIf(entry.missing)
  let alone: CpuKernels
  let crews: CpuKernels[]
  beforeAll(async () => {
    if (entry.missing) return
    alone = await createCpuKernels({ simd: entry.level, threads: 1 })
    crews = await Promise.all([2, 3, 7].map((threads) => createCpuKernels({ simd: entry.level, threads })))
  })
  afterAll(() => {
    for (const kernels of [alone, ...crews]) kernels.dispose()
  })

  /** One thread, and each number of several, compute the same bits. */
  const agree = async (build: Build, runs = 1): Promise<void> => {
    const expected = await outputs(alone, build, runs)
    expect(expected.every((values) => values.every(Number.isFinite))).toBe(true)
    for (const kernels of crews) {
      const actual = await outputs(kernels, build, runs)
      for (const [run, values] of expected.entries()) {
        expect(differences(values, actual[run]!), `${kernels.threads} threads, run ${run}`).toBe(0)
      }
    }
  }

  const differences = (a: Float32Array, b: Float32Array): number => {
    const [x, y] = [a, b].map((values) => new Uint32Array(values.buffer, values.byteOffset, values.length))
    return x!.reduce((count, bits, i) => count + (bits === y![i] ? 0 : 1), Math.abs(x!.length - y!.length))
  }

  test('products of one row and of many', async () => {
    const shape = fc.record({
      rows: fc.oneof(fc.constant(1), between(2, 150)),
      inputs: between(300, 700),
      outputs: fc.oneof(between(1, 40), between(200, 500)),
      precision: fc.constantFrom('f32' as const, 'bf16' as const, 'int8' as const),
    })
    await fc.assert(
      fc.asyncProperty(shape, async ({ rows, inputs, outputs, precision }) => {
        await agree((on) => {
          const matrix = on.matrix({
            weight: stored([outputs, inputs], 1, 'F32'),
            bias: noise(outputs, 2),
            precision,
          })
          const scale = on.vector(noise(outputs, 3))
          return (ops) =>
            ops.linear(ops.input('x', rows, inputs), matrix, {
              activation: 'gelu',
              scale,
              residual: ops.input('residual', rows, outputs),
            })
        })
      }),
      { numRuns: 2 * numRuns },
    )
  })

  test('norms and activations', async () => {
    await fc.assert(
      fc.asyncProperty(between(20, 90), between(300, 600), async (rows, columns) => {
        await agree((on) => {
          const vector = on.vector(noise(columns, 1))
          return (ops) => {
            const x = ops.addVector(ops.input('x', rows, columns), vector, 'elu')
            return ops.layerNorm(x, { weight: vector, bias: vector, eps: 1e-5 })
          }
        })
      }),
      { numRuns },
    )
  })

  test('attention, over a linear cache and over a ring', async () => {
    const geometry = fc.record({
      heads: between(1, 9),
      headDim: fc.constantFrom(30, 64),
      rows: between(1, 40),
      window: fc.option(between(20, 90), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(geometry, async ({ heads, headDim, rows, window }) => {
        const options = { heads, headDim, capacity: (window ?? 3 * rows) + rows, maxPeriod: 10000 }
        await agree((on) => {
          const cache = on.kvCache(window === undefined ? options : { ...options, window })
          return (ops) => ops.attention(ops.input('qkv', rows, 3 * heads * headDim), cache)
        }, 4)
      }),
      { numRuns },
    )
  })

  test('convolutions, plain and transposed, over several runs', async () => {
    const geometry = fc.record({
      inputs: between(30, 90),
      outputs: fc.oneof(between(1, 3), between(20, 70)),
      stride: between(1, 4),
      extra: between(0, 3),
      rows: between(20, 90),
      padding: fc.constantFrom('zero' as const, 'replicate' as const),
    })
    await fc.assert(
      fc.asyncProperty(geometry, async ({ inputs, outputs, stride, extra, rows, padding }) => {
        await agree((on) => {
          const kernel = stride + extra
          const down = on.convolution({
            weight: stored([outputs, inputs, kernel], 1, 'F32'),
            stride,
            padding,
          })
          const up = on.transposedConvolution({
            weight: stored([outputs, inputs, 2 * stride], 2, 'F32'),
            stride,
          })
          const each = on.transposedConvolution({
            weight: stored([inputs, 1, 2 * stride], 3, 'F32'),
            stride,
            depthwise: true,
          })
          const states = [down, up, each].map((weights) => on.convolutionState(weights))
          return (ops) => {
            const x = ops.input('x', rows * stride, inputs)
            const filtered = ops.transposedConvolution(x, each, states[2]!, { inputActivation: 'elu' })
            const narrow = ops.convolution(filtered, down, states[0]!, { inputActivation: 'elu' })
            return ops.transposedConvolution(narrow, up, states[1]!)
          }
        }, 3)
      }),
      { numRuns },
    )
  })
})

describe.skipIf(levels.every(({ level, missing }) => level === 'scalar' || missing))('threads', () => {
  it('by default are as many as there are processors, at most four', async () => {
    const kernels = await createCpuKernels()
    expect(kernels.threads).toBe(Math.min(4, navigator.hardwareConcurrency))
    kernels.dispose()
  })

  it('are as many as were asked for, or an error', async () => {
    const kernels = await createCpuKernels({ threads: 5 })
    expect(kernels.threads).toBe(5)
    kernels.dispose()
    for (const threads of [0, -1, 1.5, 65, Number.NaN]) {
      await expect(createCpuKernels({ threads })).rejects.toMatchObject({ code: 'unavailable' })
    }
    await expect(createCpuKernels({ simd: 'scalar', threads: 2 })).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect((await createCpuKernels({ simd: 'scalar' })).threads).toBe(1)
  })
})
