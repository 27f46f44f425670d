import { createGpuKernels } from '@pocket/kernels-wgsl'
import { record } from '@pocket/nn'
import { describeOnGpu, gpuVariants } from '@tooling/fixtures/gpu'
import { expect, it } from 'vitest'
import { create } from 'webgpu'

/** Kept for the whole file: one that Node collects takes its devices along. */
const dawn = create([])

/**
 * Makes a device one of an engine that looks for finished work only when something is submitted. Firefox also looks every
 * 100 ms; here whoever waits without a submission waits for ever.
 */
const lookingWhenSubmittedTo = (device: GPUDevice): void => {
  const { queue } = device
  const waiting = new Set<() => void>()
  const submit = queue.submit.bind(queue)
  queue.submit = (buffers) => {
    submit(buffers)
    for (const tell of waiting) tell()
    waiting.clear()
  }
  const untilLookedAt = async (completion: Promise<undefined>): Promise<undefined> => {
    await completion
    await new Promise<void>((resolve) => waiting.add(resolve))
  }
  const done = queue.onSubmittedWorkDone.bind(queue)
  queue.onSubmittedWorkDone = () => untilLookedAt(done())
  const createBuffer = device.createBuffer.bind(device)
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor)
    const map = buffer.mapAsync.bind(buffer)
    buffer.mapAsync = (...range) => untilLookedAt(map(...range))
    return buffer
  }
}

await describeOnGpu(
  'an engine that looks for finished work only when something is submitted',
  async (variant) => {
    const adapter = await dawn.requestAdapter()
    const device = await adapter?.requestDevice({ requiredFeatures: ['subgroups'] })
    if (device) lookingWhenSubmittedTo(device)
    return createGpuKernels({ ...variant, ...(device && { device }) })
  },
  (kernels) => {
    it('is made to look, for plans and streams', async () => {
      const weight = {
        dtype: 'F32' as const,
        shape: [2, 2],
        bytes: new Uint8Array(Float32Array.of(1, 1, 0, 2).buffer),
      }
      const matrix = kernels().matrix({ weight })
      const recording = record('looked at', (ops) => {
        ops.tap('y', ops.linear(ops.input('x', 1, 2), matrix))
      })
      const plan = kernels().plan(recording)
      plan.write('x', Float32Array.of(3, 4))
      plan.run()
      expect((await plan.read('y')).data).toEqual(Float32Array.of(7, 8))
      const stream = kernels().stream(recording, { inputs: ['x'], outputs: ['y'] })
      const submissions = [1, 2, 3].map((value) => stream.submit([{ x: Float32Array.of(value, value) }]))
      expect((await Promise.all(submissions)).map(([run]) => run?.y)).toEqual(
        [1, 2, 3].map((value) => Float32Array.of(2 * value, 2 * value)),
      )
    })
  },
  gpuVariants.slice(0, 1),
)
