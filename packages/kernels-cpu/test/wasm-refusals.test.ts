import { createCpuKernels, probeSimd } from '@pocket/kernels-cpu'
import { type KernelErrorCode, type Kernels, type Plan, record, type StoredWeight } from '@pocket/nn'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'

/** What the WebAssembly executor refuses, with which code, and that nothing has happened then. */

const weight = (...shape: number[]): StoredWeight => {
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(0.25)
  return { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) }
}

const kernelError = (code: KernelErrorCode, message: string | RegExp) =>
  expect.objectContaining({
    name: 'KernelError',
    code,
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  })

describe.skipIf(probeSimd() === 'scalar')('refusals', () => {
  let kernels: Kernels
  beforeAll(async () => {
    kernels = await createCpuKernels({ simd: 'simd' })
  })

  it.each([
    ['a matrix of three dimensions', () => kernels.matrix({ weight: weight(2, 3, 4) }), '[2, 3, 4]'],
    ['a matrix without outputs', () => kernels.matrix({ weight: weight(0, 3) }), 'expected a positive whole'],
    [
      'bytes that do not fill the shape',
      () => kernels.matrix({ weight: { ...weight(4, 4), dtype: 'BF16' } }),
      'BF16 weights of [4, 4] are 32 bytes, found 64',
    ],
    [
      'a bias of another length',
      () => kernels.matrix({ weight: weight(4, 4), bias: new Float32Array(3) }),
      'a bias of 3 values, expected 4',
    ],
    [
      'a stride that skips inputs',
      () => kernels.convolution({ weight: weight(2, 2, 3), stride: 4 }),
      'a stride of 4 skips inputs, the receptive field is 3',
    ],
    [
      'a stride of half a row',
      () => kernels.convolution({ weight: weight(2, 2, 3), stride: 0.5 }),
      'stride is 0.5, expected a positive whole number',
    ],
    [
      'a transposed kernel that is no multiple of its stride',
      () => kernels.transposedConvolution({ weight: weight(2, 2, 5), stride: 2 }),
      'kernel 5 is no multiple of stride 2',
    ],
    [
      'depthwise weights of many channels each',
      () => kernels.transposedConvolution({ weight: weight(4, 2, 4), stride: 2, depthwise: true }),
      'depthwise weights are [channels, 1, kernel]',
    ],
    [
      'heads that rotary pairs do not fill',
      () => kernels.kvCache({ heads: 2, headDim: 7, capacity: 8, maxPeriod: 100 }),
      'headDim is 7, expected an even number',
    ],
    [
      'a window of no position',
      () => kernels.kvCache({ heads: 2, headDim: 8, capacity: 8, window: 0, maxPeriod: 100 }),
      'window is 0',
    ],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(kernelError('shape', message))
  })

  it('handles of another executor', async () => {
    const other = await createCpuKernels({ simd: 'simd' })
    const matrix = other.matrix({ weight: weight(4, 4) })
    const cache = other.kvCache({ heads: 1, headDim: 4, capacity: 8, maxPeriod: 100 })
    const foreign = [
      record('matrix', (ops) => ops.tap('y', ops.linear(ops.input('x', 1, 4), matrix))),
      record('cache', (ops) => ops.tap('y', ops.attention(ops.input('x', 1, 12), cache))),
    ]
    for (const recording of foreign) {
      expect(() => kernels.plan(recording)).toThrow(kernelError('unavailable', 'of another executor'))
    }
  })

  describe('by a plan', () => {
    let plan: Plan
    beforeEach(() => {
      const matrix = kernels.matrix({ weight: weight(4, 4) })
      plan = kernels.plan(record('tiny', (ops) => ops.tap('y', ops.linear(ops.input('x', 1, 4), matrix))))
    })

    it('names that it does not know', async () => {
      expect(() => plan.write('y', new Float32Array(4))).toThrow(kernelError('unknown-name', 'no input y'))
      await expect(plan.read('z')).rejects.toThrow(kernelError('unknown-name', 'no tap z; it has x, y'))
      expect(plan.taps).toEqual(['x', 'y'])
    })

    it('inputs of another size, which change nothing', async () => {
      plan.write('x', Float32Array.of(1, 2, 3, 4))
      expect(() => plan.write('x', new Float32Array(5))).toThrow(
        kernelError('shape', 'takes 4 values, got 5'),
      )
      expect([...(await plan.read('x')).data]).toEqual([1, 2, 3, 4])
    })

    it('everything, once it was disposed of', async () => {
      plan.dispose()
      plan.dispose()
      const disposed = kernelError('disposed', 'plan tiny was disposed')
      expect(() => plan.write('x', new Float32Array(4))).toThrow(disposed)
      expect(() => plan.run()).toThrow(disposed)
      await expect(plan.read('y')).rejects.toThrow(disposed)
    })
  })

  it('a run past the capacity of a cache, before any work', async () => {
    const convolution = kernels.convolution({ weight: weight(4, 4, 3) })
    const state = kernels.convolutionState(convolution)
    const cache = kernels.kvCache({ heads: 1, headDim: 4, capacity: 7, maxPeriod: 100 })
    const plan = kernels.plan(
      record('step', (ops) => {
        ops.tap('convolved', ops.convolution(ops.input('x', 3, 4), convolution, state))
        ops.tap('attended', ops.attention(ops.input('qkv', 3, 12), cache))
      }),
    )
    const x = new Float32Array(12).fill(1)
    plan.write('x', x)
    plan.run()
    plan.run()
    const before = (await plan.read('convolved')).data
    plan.write('x', new Float32Array(12))
    expect(() => plan.run()).toThrow(kernelError('capacity', /plan step: 6 \+ 3 positions, .* made for 7/))
    expect(cache.position).toBe(6)
    expect((await plan.read('convolved')).data).toEqual(before)
    cache.reset()
    plan.write('x', x)
    plan.run()
    // The state of before the refused run: had it run, zeros would be in the history now.
    expect((await plan.read('convolved')).data).toEqual(before)
  })

  it('states that were disposed of', async () => {
    const cache = kernels.kvCache({ heads: 1, headDim: 4, capacity: 8, maxPeriod: 100 })
    const plan = kernels.plan(
      record('step', (ops) => ops.tap('y', ops.attention(ops.input('x', 1, 12), cache))),
    )
    cache.dispose()
    const disposed = kernelError('disposed', 'a KV cache of 8 positions, 1 heads of 4 was disposed')
    expect(() => plan.run()).toThrow(disposed)
    expect(() => cache.load(new Float32Array(4), new Float32Array(4), 1)).toThrow(disposed)
    await expect(cache.read()).rejects.toThrow(disposed)
  })

  it('everything, once the executor was disposed of', async () => {
    const doomed = await createCpuKernels({ simd: 'simd' })
    const matrix = doomed.matrix({ weight: weight(4, 4) })
    const cache = doomed.kvCache({ heads: 1, headDim: 4, capacity: 8, maxPeriod: 100 })
    const recording = record('late', (ops) => ops.tap('y', ops.linear(ops.input('x', 1, 4), matrix)))
    const plan = doomed.plan(recording)
    doomed.dispose()
    doomed.dispose()
    const disposed = kernelError('disposed', 'the executor was disposed')
    expect(() => doomed.vector(new Float32Array(4))).toThrow(disposed)
    expect(() => doomed.plan(recording)).toThrow(disposed)
    expect(() => plan.write('x', new Float32Array(4))).toThrow(disposed)
    expect(() => plan.run()).toThrow(disposed)
    await expect(plan.read('y')).rejects.toThrow(disposed)
    expect(() => cache.load(new Float32Array(4), new Float32Array(4), 1)).toThrow(disposed)
    for (const owner of [plan, cache]) owner.dispose()
  })
})
