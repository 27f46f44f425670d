import { createCpuKernels } from '@pocket/kernels-cpu'
import { type Kernels, type Operations, record, type StoredWeight, type Tensor } from '@pocket/nn'
import { maxAbsoluteError, readGoldens, relativeL2, transpose } from '@tooling/fixtures'
import { beforeAll, describe, expect, it } from 'vitest'
import { levelsAndThreads } from './levels.ts'

/** Relative L2 of one operation in float32 against the reference: the fixtures' bound for single stages. */
const tolerance = 1e-5

const goldens = readGoldens('tiny/unit.safetensors')
const golden = (name: string): { shape: number[]; data: Float32Array } => {
  const found = goldens.get(name)
  if (!found) throw new Error(`no golden ${name}`)
  return found
}
const weight = (name: string): StoredWeight => {
  const { shape, data } = golden(name)
  return { dtype: 'F32', shape, bytes: new Uint8Array(data.buffer) }
}
/** Goldens of convolutions are [channels, time]; plans are time-major. */
const timeMajor = (name: string): Float32Array => {
  const { shape, data } = golden(name)
  return transpose(data, shape[0]!, shape[1]!)
}

describe.each(levelsAndThreads())('unit goldens, $title', ({ level, threads, missing }) => {
  const test = it.skipIf(missing)
  let kernels: Kernels
  beforeAll(async () => {
    if (!missing) kernels = await createCpuKernels({ simd: level, threads })
  })

  const run = async (
    x: Float32Array,
    columns: number,
    describePlan: (ops: Operations, x: Tensor) => Tensor,
  ): Promise<Float32Array> => {
    const plan = kernels.plan(
      record('unit', (ops) => {
        ops.tap('y', describePlan(ops, ops.input('x', x.length / columns, columns)))
      }),
    )
    plan.write('x', x)
    plan.run()
    const y = await plan.read('y')
    plan.dispose()
    return y.data
  }

  test.each(['gelu', 'silu', 'elu'] as const)('%s', async (activation) => {
    const x = golden('act.x').data
    const zero = kernels.vector(new Float32Array(x.length))
    const y = await run(x, x.length, (ops, input) => ops.addVector(input, zero, activation))
    expect(relativeL2(y, golden(`act.${activation}`).data)).toBeLessThan(tolerance)
  })

  test.each([
    ['eps1e-5', 1e-5, true],
    ['eps1e-6', 1e-6, true],
    ['plain', 1e-6, false],
  ] as const)('layer norm %s', async (name, eps, affine) => {
    const norm = affine
      ? {
          weight: kernels.vector(golden('ln.weight').data),
          bias: kernels.vector(golden('ln.bias').data),
          eps,
        }
      : { eps }
    const y = await run(golden('ln.x').data, 64, (ops, x) => ops.layerNorm(x, norm))
    expect(relativeL2(y, golden(`ln.y.${name}`).data)).toBeLessThan(tolerance)
  })

  test.each([
    ['conv', { stride: 1, dilation: 1 }],
    ['down', { stride: 4, dilation: 1 }],
    ['replicate', { stride: 4, dilation: 1, padding: 'replicate' }],
    ['dilated', { stride: 1, dilation: 2 }],
  ] as const)('convolution %s, streamed', async (name, geometry) => {
    const bias = goldens.get(`${name}.bias`)?.data
    const weights = kernels.convolution({
      weight: weight(`${name}.weight`),
      ...(bias && { bias }),
      ...geometry,
    })
    const state = kernels.convolutionState(weights)
    const x = timeMajor(`${name}.x`)
    let begin = 0
    for (let chunk = 0; chunk < 3; chunk++) {
      const expected = timeMajor(`${name}.y.${chunk}`)
      const rows = (expected.length / weights.outputChannels) * geometry.stride
      const piece = x.subarray(begin * weights.inputChannels, (begin + rows) * weights.inputChannels)
      const y = await run(piece, weights.inputChannels, (ops, input) =>
        ops.convolution(input, weights, state),
      )
      expect(relativeL2(y, expected), `chunk ${chunk}`).toBeLessThan(tolerance)
      begin += rows
    }
  })

  test.each([
    ['convtr', false],
    ['upsample', true],
  ])('transposed convolution %s, streamed', async (name, depthwise) => {
    const bias = goldens.get(`${name}.bias`)?.data
    const weights = kernels.transposedConvolution({
      weight: weight(`${name}.weight`),
      ...(bias && { bias }),
      stride: 3,
      depthwise,
    })
    const state = kernels.convolutionState(weights)
    const x = timeMajor(`${name}.x`)
    let begin = 0
    for (const [chunk, rows] of [1, 2, 4].entries()) {
      const piece = x.subarray(begin * weights.inputChannels, (begin + rows) * weights.inputChannels)
      const y = await run(piece, weights.inputChannels, (ops, input) =>
        ops.transposedConvolution(input, weights, state),
      )
      expect(relativeL2(y, timeMajor(`${name}.y.${chunk}`)), `chunk ${chunk}`).toBeLessThan(tolerance)
      begin += rows
    }
  })

  test('attention with a window of 4, streamed 3 + 1 + 2', async () => {
    const inProjection = kernels.matrix({ weight: weight('attn.in_proj.weight') })
    const outProjection = kernels.matrix({ weight: weight('attn.out_proj.weight') })
    const cache = kernels.kvCache({ heads: 2, headDim: 8, capacity: 4 + 3, window: 4, maxPeriod: 10000 })
    const x = golden('attn.x').data
    const y: number[] = []
    for (const rows of [3, 1, 2]) {
      const piece = x.subarray(y.length, y.length + rows * 16)
      const part = await run(piece, 16, (ops, input) =>
        ops.linear(ops.attention(ops.linear(input, inProjection), cache), outProjection),
      )
      y.push(...part)
    }
    expect(relativeL2(y, golden('attn.y').data)).toBeLessThan(tolerance)
  })

  test('keys and values in a linear cache', async () => {
    const inProjection = kernels.matrix({ weight: weight('attn.in_proj.weight') })
    const cache = kernels.kvCache({ heads: 2, headDim: 8, capacity: 6, maxPeriod: 10000 })
    await run(golden('attn.x').data, 16, (ops, x) => ops.attention(ops.linear(x, inProjection), cache))
    const { k, v } = await cache.read()
    expect(relativeL2([...k, ...v], golden('attn.cache').data)).toBeLessThan(tolerance)
  })

  test.each([0, 1, 249, 1000, 5000])('rotation from position %i', async (position) => {
    const width = 2 * 64
    const k = golden('rope.k').data
    const rows = k.length / width
    const cache = kernels.kvCache({ heads: 2, headDim: 64, capacity: position + rows, maxPeriod: 10000 })
    cache.load(new Float32Array(position * width), new Float32Array(position * width), position)
    const qkv = new Float32Array(rows * 3 * width)
    for (let r = 0; r < rows; r++) qkv.set(k.subarray(r * width, (r + 1) * width), r * 3 * width + width)
    await run(qkv, 3 * width, (ops, x) => ops.attention(x, cache))
    // The bound of the fixtures: float32 angles, so an error that grows with the position.
    const bound = 1e-8 * (position + rows) + 5e-7
    const scale = Math.max(...golden(`rope.k.${position}`).data.map(Math.abs))
    const rotated = (await cache.read(position)).k
    expect(maxAbsoluteError(rotated, golden(`rope.k.${position}`).data)).toBeLessThan(
      bound * Math.max(1, scale),
    )
  })
})
