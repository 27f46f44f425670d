import { type CpuKernels, createCpuKernels, probeSimd } from '@pocket/kernels-cpu'
import { type KvCache, type Plan, record } from '@pocket/nn'
import { afterEach, describe, expect, it } from 'vitest'

const values = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => Math.sin((i + 1) * (seed + 0.7)))

const stored = (shape: number[], seed: number) => {
  const length = shape.reduce((product, size) => product * size, 1)
  return { dtype: 'F32' as const, shape, bytes: new Uint8Array(values(length, seed).buffer) }
}

const made: CpuKernels[] = []
const create = async (threads: number): Promise<CpuKernels> => {
  const kernels = await createCpuKernels({ threads })
  made.push(kernels)
  return kernels
}
afterEach(() => {
  for (const kernels of made.splice(0)) kernels.dispose()
})

/** A step of a language model, more or less: products of one row, and a cache that grows. */
const stepPlan = (kernels: CpuKernels, capacity: number): { plan: Plan; cache: KvCache } => {
  const cache = kernels.kvCache({ heads: 4, headDim: 32, capacity, maxPeriod: 10000 })
  const qkv = kernels.matrix({ weight: stored([384, 128], 1) })
  const out = kernels.matrix({ weight: stored([128, 128], 2), precision: 'bf16' })
  const plan = kernels.plan(
    record('step', (ops) => {
      const x = ops.input('x', 1, 128)
      const attended = ops.attention(ops.linear(ops.layerNorm(x, { eps: 1e-5 }), qkv), cache)
      ops.tap('y', ops.linear(attended, out, { activation: 'silu', residual: x }))
    }),
  )
  return { plan, cache }
}

/** A frame of a codec, more or less: convolutions with a memory. */
const framePlan = (kernels: CpuKernels) => {
  const convolution = kernels.convolution({ weight: stored([96, 128, 3], 3) })
  const state = kernels.convolutionState(convolution)
  const widen = kernels.matrix({ weight: stored([1280, 128], 4) })
  const plan = kernels.plan(
    record('frame', (ops) => {
      const wide = ops.linear(ops.input('x', 16, 128), widen, { activation: 'gelu' })
      const x = ops.columns(wide, 0, 128)
      ops.tap('y', ops.convolution(x, convolution, state, { inputActivation: 'elu' }))
    }),
  )
  return { plan, state }
}

const frames = 350

/** Frame n is made while step n + 1 is. */
const overlapped = async (kernels: CpuKernels): Promise<Float32Array[]> => {
  const { plan: step } = stepPlan(kernels, frames)
  const { plan: frame } = framePlan(kernels)
  const results: Float32Array[] = []
  let x: Float32Array = values(128, 9)
  for (let n = 0; n < frames; n++) {
    step.write('x', x)
    step.run()
    x = (await step.read('y')).data.map((value) => value / 8)
    if (n > 0) results.push((await frame.read('y')).data)
    frame.write('x', values(16 * 128, n))
    frame.start()
  }
  return [...results, (await frame.read('y')).data, x]
}

describe.skipIf(probeSimd() === 'scalar')('a plan that was started', () => {
  it('goes on beside others and gives the same bits, for hundreds of runs and any number of threads', async () => {
    const expected = await overlapped(await create(1))
    for (const threads of [2, 3, 5]) {
      const actual = await overlapped(await create(threads))
      for (const [n, result] of expected.entries()) {
        expect(Buffer.from(actual[n]!.buffer).equals(Buffer.from(result.buffer)), `result ${n}`).toBe(true)
      }
    }
  })

  it.each([1, 2, 3])('is over when it is asked for something, on %i threads', async (threads) => {
    const kernels = await create(threads)
    const { plan, state } = framePlan(kernels)
    const again = framePlan(await create(1)).plan
    const input = (n: number): Float32Array => values(16 * 128, n)
    const expected: Float32Array[] = []
    for (let n = 0; n < 4; n++) {
      again.write('x', input(n))
      again.run()
      expected.push((await again.read('y')).data)
    }

    plan.write('x', input(0))
    plan.start()
    // Written over only when the run has read it.
    plan.write('x', input(1))
    expect((await plan.read('y')).data).toEqual(expected[0])
    plan.start()
    plan.write('x', input(2))
    plan.start()
    plan.write('x', input(3))
    plan.run()
    expect((await plan.read('y')).data).toEqual(expected[3])

    plan.write('x', input(0))
    plan.start()
    state.reset()
    plan.start()
    expect((await plan.read('y')).data).toEqual(expected[0])
  })

  it.each([1, 2, 3])('is waited for by plans and owners of its states, on %i threads', async (threads) => {
    const kernels = await create(threads)
    const cache = kernels.kvCache({ heads: 4, headDim: 64, capacity: 400, maxPeriod: 10000 })
    const attend = (rows: number): Plan => {
      const plan = kernels.plan(
        record(`${rows} rows`, (ops) => {
          ops.tap('y', ops.attention(ops.input('qkv', rows, 768), cache))
        }),
      )
      plan.write('qkv', values(rows * 768, rows))
      return plan
    }
    const [many, one] = [attend(120), attend(1)]
    const results: Float32Array[] = []
    for (const begin of [() => many.run(), () => many.start()]) {
      cache.reset()
      begin()
      one.run()
      expect(cache.position).toBe(121)
      results.push((await one.read('y')).data, (await cache.read()).k)
      begin()
      results.push((await cache.read(121)).v)
    }
    expect(results.slice(3)).toEqual(results.slice(0, 3))
  })

  it('is refused before any work where it cannot run', async () => {
    const kernels = await create(2)
    const { plan, cache } = stepPlan(kernels, 1)
    plan.write('x', values(128, 1))
    plan.start()
    expect(() => plan.start()).toThrowError(expect.objectContaining({ code: 'capacity' }))
    cache.dispose()
    expect(() => plan.start()).toThrowError(expect.objectContaining({ code: 'disposed' }))
  })

  it('may be disposed of at any time, and so may its executor', async () => {
    for (let round = 0; round < 20; round++) {
      const kernels = await create(2)
      const { plan, state } = framePlan(kernels)
      plan.write('x', values(16 * 128, 1))
      plan.start()
      if (round % 4 === 0) plan.dispose()
      if (round % 4 === 1) state.dispose()
      if (round % 4 === 2) await plan.read('y')
      kernels.dispose()
      expect(() => plan.run()).toThrowError(expect.objectContaining({ code: 'disposed' }))
    }
  })
})
