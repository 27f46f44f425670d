import { createGpuKernels, type GpuKernels } from '@pocket/kernels-wgsl'
import { record } from '@pocket/nn'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nullAdapter } from './null-device.ts'

let device: GPUDevice
let kernels: GpuKernels

beforeEach(async () => {
  device = await (await nullAdapter()).requestDevice()
  kernels = await createGpuKernels({ device, selfTest: false })
})

afterEach(() => {
  vi.restoreAllMocks()
  kernels.dispose()
  device.destroy()
})

const weight = (...shape: number[]) => {
  const length = shape.reduce((product, size) => product * size, 1)
  return { dtype: 'F32' as const, shape, bytes: new Uint8Array(new Float32Array(length).fill(1).buffer) }
}

/** A recording with inputs, taps, values between them and words of the host, on a state that is there. */
const network = () => {
  const cache = kernels.kvCache({ heads: 2, headDim: 4, capacity: 8, maxPeriod: 10000 })
  const [inner, outer] = [
    kernels.matrix({ weight: weight(24, 4) }),
    kernels.matrix({ weight: weight(4, 8), bias: new Float32Array(4) }),
  ]
  return record('network', (ops) => {
    const attended = ops.attention(ops.linear(ops.input('x', 1, 4), inner), cache)
    ops.tap('y', ops.linear(attended, outer))
  })
}

const things = {
  'a matrix with a bias': () => () => kernels.matrix({ weight: weight(4, 4), bias: new Float32Array(4) }),
  'a matrix of eight bits': () => () => kernels.matrix({ weight: weight(4, 4), precision: 'int8' }),
  'a convolution': () => () => kernels.convolution({ weight: weight(4, 4, 3), bias: new Float32Array(4) }),
  'a transposed convolution by channels': () => () =>
    kernels.transposedConvolution({
      weight: weight(4, 1, 4),
      bias: new Float32Array(4),
      stride: 2,
      depthwise: true,
    }),
  'a KV cache': () => () => kernels.kvCache({ heads: 2, headDim: 4, capacity: 8, maxPeriod: 10000 }),
  'a KV cache that goes on': () => {
    const cache = kernels.kvCache({ heads: 2, headDim: 4, capacity: 8, maxPeriod: 10000 })
    cache.load(new Float32Array(24), new Float32Array(24), 3)
    return () => cache.continued?.(9)
  },
  'a plan': () => {
    const recording = network()
    return () => kernels.plan(recording)
  },
  'a stream': () => {
    const recording = network()
    return () => kernels.stream(recording, { inputs: ['x'], outputs: ['y'] })
  },
}

describe('what fails half way', () => {
  it.each(Object.entries(things))('leaves nothing behind: %s', (_, prepare) => {
    const make = prepare()
    const { bytes } = kernels
    const createBuffer = device.createBuffer.bind(device)
    let buffers = 0
    const failAt = (count: number) => {
      buffers = 0
      vi.spyOn(device, 'createBuffer').mockImplementation((descriptor) => {
        if (++buffers > count) throw new RangeError('no more')
        return createBuffer(descriptor)
      })
    }
    failAt(Number.POSITIVE_INFINITY)
    make()
    const needed = buffers
    const whole = kernels.bytes
    expect(needed).toBeGreaterThan(1)
    for (let count = 0; count < needed; count++) {
      failAt(count)
      expect(make, `after ${count} of ${needed} buffers`).toThrow('no more')
      expect(kernels.bytes, `after ${count} of ${needed} buffers`).toBe(whole)
    }
    expect(whole).toBeGreaterThan(bytes)
  })

  it('leaves nothing behind: a stream of what the recording has not', () => {
    const recording = network()
    const { bytes } = kernels
    expect(() => kernels.stream(recording, { inputs: ['z'], outputs: ['y'] })).toThrow(/no input z/)
    expect(kernels.bytes).toBe(bytes)
  })

  it('is refused before a state has moved: more runs than a buffer has room for', async () => {
    const wide = kernels.matrix({ weight: weight(1 << 20, 1) })
    const cache = kernels.kvCache({ heads: 1, headDim: 2, capacity: 40, maxPeriod: 10000 })
    const recording = record('wide', (ops) => {
      ops.attention(ops.input('x', 1, 6), cache)
      ops.tap('y', ops.linear(ops.input('one', 1, 1), wide))
    })
    const stream = kernels.stream(recording, { inputs: ['x'], outputs: ['y'] })
    const rows = Array.from({ length: 33 }, () => ({ x: new Float32Array(6) }))
    await expect(stream.submit(rows)).rejects.toMatchObject({ code: 'out-of-memory' })
    expect(cache.position).toBe(0)
  })
})

/** Dawn without a GPU has 512 MiB. */
const mostBuffers = 4

describe('a GPU without memory', () => {
  /** What is filled with buffers of 128 MiB until one is not there. */
  const fill = (): void => {
    for (let count = 0; count < mostBuffers / 2; count++) {
      kernels.kvCache({ heads: 1, headDim: 4, capacity: 1 << 23, maxPeriod: 10000 })
    }
  }

  it('is told by whoever has no buffer left to be given words or results through', async () => {
    device.addEventListener('uncapturederror', (event) => event.preventDefault())
    const recording = network()
    const stream = kernels.stream(recording, { inputs: ['x'], outputs: ['y'] })
    const plan = kernels.plan(recording)
    const row = { x: new Float32Array(4) }
    await stream.submit([row])
    fill()
    // What is left, by halves.
    const caches = Array.from({ length: 19 }, (_, halvings) =>
      kernels.kvCache({ heads: 1, headDim: 4, capacity: 2 ** (22 - halvings), maxPeriod: 10000 }),
    )
    const refused = { code: 'out-of-memory', message: expect.stringMatching(/upload|staging/) }
    await expect(stream.submit(Array.from({ length: 5 }, () => row))).rejects.toMatchObject(refused)
    plan.run()
    // Of the size that the stream has left behind.
    expect((await plan.read('y')).shape).toEqual([1, 4])
    for (const cache of caches) cache.dispose()
    await expect(stream.submit([row])).resolves.toHaveLength(1)
  })

  it('is told by whoever reads what was computed without', async () => {
    // Whatever uses what is not there fails too, and is told beside the calls.
    const beside = vi.fn((event: GPUUncapturedErrorEvent) => event.preventDefault())
    device.addEventListener('uncapturederror', beside)
    const before = network()
    const healthy = kernels.stream(before, { inputs: ['x'], outputs: ['y'] })
    fill()
    const refused = { code: 'out-of-memory', message: expect.stringMatching(/no memory left for .*cache/) }
    const cache = kernels.kvCache({ heads: 1, headDim: 4, capacity: 1 << 23, maxPeriod: 10000 })
    const recording = record('too much', (ops) => {
      ops.tap('y', ops.attention(ops.input('x', 1, 12), cache))
    })
    const stream = kernels.stream(recording, { inputs: ['x'], outputs: ['y'] })
    await expect(stream.submit([{ x: new Float32Array(12) }])).rejects.toMatchObject(refused)
    const plan = kernels.plan(recording)
    plan.run()
    await expect(plan.read('y')).rejects.toMatchObject(refused)
    // Who uses none of it goes on.
    await expect(healthy.submit([{ x: new Float32Array(4) }])).resolves.toHaveLength(1)
    const { bytes } = kernels
    cache.dispose()
    expect(kernels.bytes).toBe(bytes - 2 * 2 ** 27)
  })
})
