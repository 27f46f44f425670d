import { createGpuKernels } from '@pocket/kernels-wgsl'
import { record } from '@pocket/nn'
import { describeOnGpu, gpuVariants } from '@tooling/fixtures/gpu'
import { describe, expect, it, vi } from 'vitest'
import { nullAdapter } from './null-device.ts'

const weight = { dtype: 'F32' as const, shape: [4, 4], bytes: new Uint8Array(64) }

describe('a device that computes nothing', () => {
  const nullDevice = async (): Promise<GPUDevice> =>
    (await nullAdapter()).requestDevice({ requiredFeatures: ['subgroups'] })

  it('is refused for its numbers, and stays open for whoever brought it', async () => {
    const device = await nullDevice()
    await expect(createGpuKernels({ device })).rejects.toMatchObject({ code: 'self-test' })
    const kernels = await createGpuKernels({ device, selfTest: false })
    expect(kernels.matrix({ weight }).outputs).toBe(4)
    device.destroy()
  })

  it.each([
    ['google', 'swiftshader', 'SwiftShader Device (LLVM 10.0.0)', false, true],
    ['mesa', '', 'llvmpipe (LLVM 15.0.6, 256 bits)', false, true],
    ['microsoft', '', 'Microsoft Basic Render Driver', false, true],
    ['', '', '', true, true],
    ['nvidia', 'hopper', 'NVIDIA H200', false, false],
    ['', '', '', false, false],
  ])('of %s %s %s, fallback %s: a processor stands for it: %s', async (...named) => {
    const [vendor, architecture, description, isFallbackAdapter, isSoftware] = named
    const device = await nullDevice()
    const adapterInfo = { vendor, architecture, device: '', description, isFallbackAdapter }
    Object.defineProperty(device, 'adapterInfo', { value: adapterInfo })
    const kernels = await createGpuKernels({ device, selfTest: false })
    expect(kernels.isSoftware).toBe(isSoftware)
    expect(kernels.withLanes(2).isSoftware).toBe(isSoftware)
    device.destroy()
  })

  it('cannot have lanes of no number', async () => {
    const device = await nullDevice()
    await expect(createGpuKernels({ device, lanes: 0 })).rejects.toMatchObject({ code: 'shape' })
    device.destroy()
  })

  it.each([{}, { lanes: 0 }])('is closed again where it was opened for nothing: %j', async (options) => {
    const adapter = await nullAdapter()
    using request = vi.spyOn(adapter, 'requestDevice')
    await expect(createGpuKernels({ adapter, ...options })).rejects.toMatchObject({ name: 'KernelError' })
    const device: GPUDevice = await request.mock.results[0]?.value
    expect(await device.lost).toMatchObject({ reason: 'destroyed' })
  })

  it('tells who waits that the executor was disposed, not that the device is lost', async () => {
    const adapter = await nullAdapter()
    const kernels = await createGpuKernels({ adapter, selfTest: false })
    const matrix = kernels.matrix({ weight })
    const plan = kernels.plan(
      record('disposed', (ops) => {
        ops.tap('y', ops.linear(ops.input('x', 1, 4), matrix))
      }),
    )
    await plan.ready()
    const reading = plan.read('y')
    kernels.dispose()
    await expect(reading).rejects.toMatchObject({ code: 'disposed' })
  })

  it('says which plans and weights it refuses', async () => {
    const device = await nullDevice()
    const kernels = await createGpuKernels({ device, lanes: 2, selfTest: false })
    const matrix = kernels.matrix({ weight })
    const recording = record('refused', (ops) => {
      ops.tap('y', ops.linear(ops.input('x', 1, 4), matrix))
    })
    const refusal = (work: () => unknown): string => {
      try {
        work()
      } catch (error) {
        return (error as { code: string }).code
      }
      return 'nothing'
    }
    expect(refusal(() => kernels.plan(recording, { lane: 2 }))).toBe('shape')
    expect(refusal(() => kernels.plan(recording).write('x', new Float32Array(4)))).toBe('shape')
    expect(refusal(() => kernels.plan(recording).write('z', new Float32Array(8)))).toBe('unknown-name')
    expect(refusal(() => kernels.matrix({ weight: { ...weight, shape: [4, 5] } }))).toBe('shape')
    const huge = { heads: 64, headDim: 64, capacity: 1 << 16, maxPeriod: 10000 }
    expect(refusal(() => kernels.kvCache(huge))).toBe('out-of-memory')
    const otherLanes = kernels.withLanes(1).kvCache({ heads: 1, headDim: 4, capacity: 8, maxPeriod: 10000 })
    const mixed = record('mixed', (ops) => {
      ops.tap('y', ops.attention(ops.input('qkv', 1, 12), otherLanes))
    })
    expect(refusal(() => kernels.plan(mixed))).toBe('shape')
    const plan = kernels.plan(recording)
    plan.dispose()
    expect(refusal(() => plan.run())).toBe('disposed')
    kernels.dispose()
    expect(refusal(() => kernels.plan(recording))).toBe('disposed')
    device.destroy()
  })
})

await describeOnGpu(
  'a device that is lost',
  createGpuKernels,
  (kernels) => {
    it('is told by what waits for it, and by every call after', async () => {
      const matrix = kernels().matrix({ weight })
      const recording = record('lost', (ops) => {
        ops.tap('y', ops.linear(ops.input('x', 1, 4), matrix))
      })
      const stream = kernels().stream(recording, { inputs: ['x'], outputs: ['y'] })
      const row = { x: new Float32Array(4) }
      await stream.submit([row])
      const waiting = stream.submit([row, row])
      kernels().device.destroy()
      await expect(waiting).rejects.toMatchObject({ code: 'device-lost' })
      await expect(stream.submit([row])).rejects.toMatchObject({ code: 'device-lost' })
      expect(() => kernels().plan(recording)).toThrow(/another executor/)
    })
  },
  gpuVariants.slice(0, 1),
)
