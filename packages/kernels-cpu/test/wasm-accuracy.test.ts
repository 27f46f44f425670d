import { createCpuKernels } from '@pocket/kernels-cpu'
import { type Kernels, type Operations, record, type StoredWeight, type Tensor } from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'
import { relativeL2 } from '@tooling/fixtures'
import { beforeAll, describe, expect, it } from 'vitest'
import { levels } from './levels.ts'

/**
 * How far the kernels are from exact arithmetic where it matters: at the sizes of the real model, and for inputs that
 * cancel, overflow or vanish. The oracle sums in double and rounds once, which is exact for this purpose.
 */
const tolerance = 1e-6

const noise = (length: number, seed: number, scale = 1, offset = 0): Float32Array<ArrayBuffer> => {
  const values = new Float32Array(length)
  let state = Math.imul(seed + 1, 0x9e3779b9) | 1
  for (let i = 0; i < length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    values[i] = offset + scale * state * 2 ** -31
  }
  return values
}

const stored = (shape: number[], seed: number, dtype: StoredWeight['dtype']): StoredWeight => {
  const values = noise(
    shape.reduce((product, size) => product * size, 1),
    seed,
  )
  return { dtype, shape, bytes: new Uint8Array(dtype === 'BF16' ? f32ToBf16(values).buffer : values.buffer) }
}

const gelu = (x: number): number => {
  const tail = 0.5 * erfc(Math.abs(x) / Math.SQRT2)
  return x > 0 ? x - x * tail : x * tail
}

/** By its series of positive terms near 0, by its continued fraction elsewhere: no cancellation in either. */
const erfc = (z: number): number => {
  if (z > 2.5) {
    let fraction = 0
    for (let k = 200; k >= 1; k--) fraction = k / 2 / (z + fraction)
    return Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction)
  }
  let term = z
  let sum = z
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
    term *= (2 * z * z) / (2 * n + 1)
    sum += term
  }
  return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum
}

describe.each(levels.filter(({ level }) => level !== 'scalar'))('accuracy, $title', (entry) => {
  const test = it.skipIf(entry.missing)
  let kernels: Kernels
  let oracle: Kernels
  beforeAll(async () => {
    if (!entry.missing) kernels = await createCpuKernels({ simd: entry.level })
    oracle = await createCpuKernels({ simd: 'scalar' })
  })

  type Build = (on: Kernels) => (ops: Operations) => Tensor

  const output = async (
    on: Kernels,
    x: Float32Array,
    columns: number,
    build: Build,
  ): Promise<Float32Array> => {
    const describePlan = build(on)
    const plan = on.plan(
      record('accuracy', (ops) => {
        ops.tap('out', describePlan(ops))
      }),
    )
    expect(x.length % columns).toBe(0)
    plan.write('x', x)
    plan.run()
    const { data } = await plan.read('out')
    plan.dispose()
    return data
  }

  const errorOf = async (x: Float32Array, columns: number, build: Build): Promise<number> =>
    relativeL2(await output(kernels, x, columns, build), await output(oracle, x, columns, build))

  describe('activations', () => {
    const count = 40_000
    const sweep = async (activation: 'elu' | 'gelu' | 'silu', range: number) => {
      const x = Float32Array.from({ length: count }, (_, i) => ((i + 0.5) / count - 0.5) * 2 * range)
      const y = await output(kernels, x, count, (on) => {
        const zero = on.vector(new Float32Array(count))
        return (ops) => ops.addVector(ops.input('x', 1, count), zero, activation)
      })
      return { x, y }
    }
    const worst = async (
      activation: 'elu' | 'gelu' | 'silu',
      range: number,
      exact: (x: number) => number,
    ): Promise<{ absolute: number; relative: number }> => {
      const { x, y } = await sweep(activation, range)
      let absolute = 0
      let relative = 0
      for (const [i, value] of x.entries()) {
        const expected = exact(value)
        const error = Math.abs(y[i]! - expected)
        absolute = Math.max(absolute, error)
        relative = Math.max(relative, error / Math.abs(expected))
      }
      return { absolute, relative }
    }

    test.each([1, 10, 87])('ELU is within 1e-7, relatively, on both sides of 0, up to ±%i', async (range) => {
      const { relative } = await worst('elu', range, (x) => (x > 0 ? x : Math.expm1(x)))
      expect(relative).toBeLessThan(1e-7)
    })

    test.each([1, 10, 80])('SiLU is within 2e-7, relatively, up to ±%i', async (range) => {
      const { relative } = await worst('silu', range, (x) => x / (1 + Math.exp(-x)))
      expect(relative).toBeLessThan(2e-7)
    })

    test.each([
      [1, 5e-7],
      [5, 1e-6],
      [12, 5e-6],
    ])('GELU is within 3e-7 up to ±%f, and within %f of its own size', async (range, bound) => {
      const { absolute, relative } = await worst('gelu', range, gelu)
      expect(absolute).toBeLessThan(3e-7)
      expect(relative).toBeLessThan(bound)
    })

    test.each([
      ['elu', [-1, 1e30, -1, 0]],
      ['gelu', [-0, 1e30, -0, 0]],
      ['silu', [-0, 1e30, -0, 0]],
    ] as const)('%s has the right limits, and lets NaN pass', async (activation, expected) => {
      const x = Float32Array.of(-1e30, 1e30, -200, 0, Number.NaN)
      const y = await output(kernels, x, 5, (on) => {
        const zero = on.vector(new Float32Array(5))
        return (ops) => ops.addVector(ops.input('x', 1, 5), zero, activation)
      })
      for (const [i, limit] of expected.entries()) expect(y[i]).toBeCloseTo(Math.fround(limit), 6)
      expect(y[4]).toBeNaN()
    })
  })

  test.each([
    ['BF16', 1, 1024, 4096],
    ['F32', 1, 1024, 4096],
    ['BF16', 5, 4096, 1024],
    ['F32', 5, 4096, 1024],
    ['F32', 1, 1, 1024],
  ] as const)('%s products of %i rows, %i outputs, %i inputs', async (dtype, rows, outputs, inputs) => {
    const error = await errorOf(noise(rows * inputs, 1), inputs, (on) => {
      const matrix = on.matrix({ weight: stored([outputs, inputs], 2, dtype) })
      return (ops) => ops.linear(ops.input('x', rows, inputs), matrix)
    })
    expect(error).toBeLessThan(tolerance)
  })

  test('a product rounds float32 weights to bfloat16 where it is told to', async () => {
    const weight = stored([33, 70], 3, 'F32')
    const x = noise(70, 4)
    const build =
      (precision: 'bf16' | 'stored'): Build =>
      (on) => {
        const matrix = on.matrix({ weight, precision })
        return (ops) => ops.linear(ops.input('x', 1, 70), matrix)
      }
    expect(await errorOf(x, 70, build('bf16'))).toBeLessThan(tolerance)
    const rounded = await output(kernels, x, 70, build('bf16'))
    expect(relativeL2(rounded, await output(oracle, x, 70, build('stored')))).toBeGreaterThan(1e-4)
  })

  test.each([
    ['small', 1e-3, 0],
    ['far from 0', 1, 1000],
    ['large', 1e6, 0],
  ])('a layer norm of values that are %s', async (_, scale, offset) => {
    const error = await errorOf(noise(3 * 1023, 5, scale, offset), 1023, () => (ops) => {
      return ops.layerNorm(ops.input('x', 3, 1023), { eps: 1e-5 })
    })
    expect(error).toBeLessThan(tolerance)
  })

  test('a layer norm of one value everywhere is 0', async () => {
    const y = await output(kernels, new Float32Array(70).fill(123.456), 70, () => (ops) => {
      return ops.layerNorm(ops.input('x', 1, 70), { eps: 1e-5 })
    })
    expect(Math.max(...y.map(Math.abs))).toBeLessThan(1e-3)
  })

  test.each([0.1, 3, 40])('attention over 400 positions, queries and keys of size %f', async (scale) => {
    const width = 2 * 64
    const error = await errorOf(noise(3 * 3 * width, 6, scale), 3 * width, (on) => {
      const cache = on.kvCache({ heads: 2, headDim: 64, capacity: 403, maxPeriod: 10000 })
      cache.load(noise(400 * width, 7, scale), noise(400 * width, 8), 400)
      return (ops) => ops.attention(ops.input('x', 3, 3 * width), cache)
    })
    // Scores of some hundreds carry rounding of 1e-5 into the exponent: no float32 softmax is nearer.
    expect(error).toBeLessThan(scale > 10 ? 1e-4 : tolerance)
  })

  test('a residual unit of the codec, at its size', async () => {
    const error = await errorOf(noise(96 * 256, 9), 256, (on) => {
      const first = on.convolution({ weight: stored([128, 256, 3], 10, 'BF16'), bias: noise(128, 11) })
      const second = on.convolution({ weight: stored([256, 128, 1], 12, 'F32'), bias: noise(256, 13) })
      const states = [on.convolutionState(first), on.convolutionState(second)] as const
      return (ops) => {
        const x = ops.input('x', 96, 256)
        const inner = ops.convolution(x, first, states[0], { inputActivation: 'elu' })
        return ops.convolution(inner, second, states[1], { inputActivation: 'elu', residual: x })
      }
    })
    expect(error).toBeLessThan(tolerance)
  })

  test('the same input gives the same bits, before and after the engine has optimised the kernels', async () => {
    const matrix = kernels.matrix({ weight: stored([64, 64], 14, 'BF16') })
    const plan = kernels.plan(
      record('repeated', (ops) => {
        const x = ops.linear(ops.input('x', 5, 64), matrix, { activation: 'gelu' })
        ops.tap('y', ops.layerNorm(ops.linear(x, matrix, { residual: x }), { eps: 1e-5 }))
      }),
    )
    plan.write('x', noise(5 * 64, 15))
    plan.run()
    const first = (await plan.read('y')).data
    for (let i = 0; i < 3000; i++) plan.run()
    expect((await plan.read('y')).data).toEqual(first)
  })
})
