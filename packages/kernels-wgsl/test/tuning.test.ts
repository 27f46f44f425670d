import { createGpuKernels, type GpuKernels, type Tuning, type TuningTrial } from '@pocket/kernels-wgsl'
import { KernelError, record } from '@pocket/nn'
import { describeOnGpu, gpuVariants } from '@tooling/fixtures/gpu'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nullAdapter } from './null-device.ts'
import { noise, stored } from './scaled-weights.ts'

const width = 72
const rows = 3

/** Every kernel that sums, over rows that fill no tile, with sums of one subgroup and of several. */
const weightsOn = (kernels: GpuKernels) => ({
  qkv: kernels.matrix({ weight: stored([3 * width, width], 1) }),
  down: kernels.matrix({ weight: stored([10, width], 2), precision: 'bf16' }),
  few: kernels.matrix({ weight: stored([6, 10], 3) }),
  convolution: kernels.convolution({ weight: stored([7, 6, 3], 4) }),
})

const open = (kernels: GpuKernels, weights: ReturnType<typeof weightsOn>) => {
  const cache = kernels.kvCache({ heads: 2, headDim: width / 2, capacity: 400, maxPeriod: 10000 })
  const state = kernels.convolutionState(weights.convolution)
  const recording = record('small network', (ops) => {
    const x = ops.input('x', rows, width)
    const attended = ops.attention(ops.linear(ops.layerNorm(x, { eps: 1e-5 }), weights.qkv), cache)
    const down = ops.tap('down', ops.linear(ops.layerNorm(attended, { eps: 1e-5 }), weights.down))
    const few = ops.linear(down, weights.few, { activation: 'gelu' })
    ops.tap('y', ops.convolution(few, weights.convolution, state))
  })
  const stream = kernels.stream(recording, { inputs: ['x'], outputs: ['down', 'y'] })
  const dispose = (): void => {
    for (const part of [stream, cache, state]) part.dispose()
  }
  const run = async (): Promise<Float32Array[]> => {
    const runs = await stream.submit([1, 2].map((seed) => ({ x: noise(rows * width, seed) })))
    return runs.flatMap((outputs) => Object.values(outputs))
  }
  return { stream, run, dispose }
}

const bytesOf = (outputs: readonly Float32Array[]): string =>
  outputs
    .map((values) => Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('hex'))
    .join()

/** What the bits of the network are with each cut, on executors of their own. */
const bitsWith = async (tuning: Partial<Tuning>): Promise<string> => {
  const kernels = await createGpuKernels({ selfTest: false, tuning: { threads: 1 << 10, ...tuning } })
  const { run, dispose } = open(kernels, weightsOn(kernels))
  const bits = bytesOf(await run())
  dispose()
  kernels.dispose()
  return bits
}

const refusal = (tuning: object) => expect(createGpuKernels({ tuning })).rejects

await describeOnGpu(
  'cuts of the work',
  createGpuKernels,
  (kernels) => {
    it('give the same bits, but for the number of threads', async () => {
      const bits = await bitsWith({})
      for (const tuning of [{ unroll: 2 }, { workgroup: 256 }, { subgroups: false }]) {
        expect((await bitsWith(tuning)) === bits, JSON.stringify(tuning)).toBe(true)
      }
      expect((await bitsWith({ threads: 64 })) === bits, 'fewer threads').toBe(false)
    })

    it('are refused where no kernel can be made so', async () => {
      await refusal({ threads: 100 }).toMatchObject({
        code: 'shape',
        message: expect.stringMatching(/threads is 100/),
      })
      await refusal({ unroll: 0 }).toMatchObject({ code: 'shape' })
      await refusal({ workgroup: 512 }).toMatchObject({ code: 'shape' })
      await refusal({ subgroups: 'yes' }).toMatchObject({ code: 'shape' })
    })

    it('are found by timing, and leave nothing behind', async () => {
      const weights = weightsOn(kernels())
      const beginning = kernels().tuning
      const { bytes } = kernels()
      let opened = 0
      let closed = 0
      const trial = (): TuningTrial => {
        const { stream, run, dispose } = open(kernels(), weights)
        opened++
        return {
          ready: () => stream.ready(),
          run,
          dispose: () => {
            closed++
            dispose()
          },
        }
      }
      const unlimited = { budget: Number.POSITIVE_INFINITY }
      const { tuning, tried } = await kernels().tune(trial, unlimited)
      expect(kernels().tuning).toEqual(tuning)
      expect(tuning.threads).toBe(beginning.threads)
      expect(tried.length).toBeGreaterThan(2)
      expect(tried.every(({ sameBits }) => sameBits)).toBe(true)
      expect(tried.every((time) => time.milliseconds! > 0 && time.bestMilliseconds! > 0)).toBe(true)
      expect([opened, closed]).toEqual([1 + tried.length, 1 + tried.length])
      // Buffers that results are read through stay.
      expect(kernels().bytes - bytes).toBeLessThan(65536)
      expect((await kernels().tune(trial, { budget: 0 })).tried).toEqual([])
    })
  },
  gpuVariants.slice(0, 1),
)

describe('a choice of cuts', () => {
  let device: GPUDevice
  let kernels: GpuKernels

  beforeEach(async () => {
    device = await (await nullAdapter()).requestDevice()
    kernels = await createGpuKernels({ device, selfTest: false })
  })

  afterEach(() => device.destroy())

  /** Runs that take some milliseconds or none, and give what the cut says. */
  const scripted =
    (isFast: (tuning: Tuning) => boolean, bits: (tuning: Tuning) => number) => (): TuningTrial => {
      const { tuning } = kernels
      return {
        ready: async () => {},
        run: async () => {
          if (!isFast(tuning)) await new Promise((resolve) => setTimeout(resolve, 20))
          return [Float32Array.of(bits(tuning))]
        },
        dispose: () => {},
      }
    }

  it('takes the fastest of those that give the same bits', async () => {
    const isFast = ({ workgroup }: Tuning): boolean => workgroup === 256
    const { tuning, tried } = await kernels.tune(scripted(isFast, () => Number.NaN))
    expect(tuning.workgroup).toBe(256)
    expect(kernels.tuning).toEqual(tuning)
    expect(tried.every(({ sameBits }) => sameBits)).toBe(true)
  })

  it('passes over faster ones with other bits, unless they are asked for', async () => {
    const trial = scripted(
      ({ threads }) => threads === 1 << 14,
      ({ threads, workgroup }) => threads + workgroup,
    )
    const kept = await kernels.tune(trial)
    expect(kept.tuning).toMatchObject({ threads: 1 << 16, workgroup: 64 })
    expect(kept.tried.find((time) => time.tuning.workgroup === 256)).toMatchObject({
      milliseconds: undefined,
      sameBits: false,
    })
    const changed = await kernels.tune(trial, { bits: 'changed' })
    expect(changed.tuning.threads).toBe(1 << 14)
  })

  it('passes over those that a driver cannot compile, and throws what else there is', async () => {
    let disposed = 0
    const failing = (error: Error) => (): TuningTrial => {
      const { workgroup } = kernels.tuning
      return {
        ready: async () => {
          if (workgroup !== 64) throw error
        },
        run: async () => [],
        dispose: () => {
          disposed++
        },
      }
    }
    const { tuning, tried } = await kernels.tune(failing(new Error('the compiler gives up')))
    expect(tuning.workgroup).toBe(64)
    expect(tried.find((time) => time.tuning.workgroup === 256)).toMatchObject({ sameBits: undefined })
    expect(disposed).toBe(1 + tried.length)
    const full = await kernels.tune(failing(new KernelError('out-of-memory', 'no second one')))
    expect(full.tuning.workgroup).toBe(64)
    const lost = new KernelError('device-lost', 'the GPU is gone')
    await expect(kernels.tune(failing(lost))).rejects.toBe(lost)
    expect(kernels.tuning.workgroup).toBe(64)
    const stopped = new Error('enough')
    let runs = 0
    const stopping = (): TuningTrial => ({
      ready: async () => {},
      run: async () => {
        if (++runs > 4) throw stopped
        return []
      },
      dispose: () => {},
    })
    await expect(kernels.tune(stopping)).rejects.toBe(stopped)
  })
})
