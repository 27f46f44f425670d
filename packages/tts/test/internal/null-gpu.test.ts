import { createGpuKernels, type GpuKernels, type TuningReport } from '@pocket/kernels-wgsl'
import { KernelError } from '@pocket/nn'
import { SafeTensors } from '@pocket/safetensors'
import type { LoadOptions, NoiseSource, Voice } from '@pocket/tts'
import { readFixture } from '@tooling/fixtures'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { create } from 'webgpu'
import type { Backend } from '../../src/backend/backend.ts'
import { loadGpuBackend } from '../../src/backend/gpu-backend.ts'
import type { KnownFrames } from '../../src/backend/known-frames.ts'
import { driveUtterance } from '../../src/generate/driver.ts'
import type { PlannedChunk } from '../../src/generate/plan-text.ts'
import type { AudioFrame } from '../../src/generate/utterance.ts'

/*
 * Dawn's null backend takes everything and computes nothing, so that what is asked of a GPU can be watched at no cost.
 * What it gives back means nothing: chunks run to their greatest length.
 */
const gpu = create(['backend=null'])

const weights = SafeTensors.fromBytes(readFixture('tiny/tiny-2026-04/model.safetensors'))
const { layers, heads, headDim, latentDim } = { layers: 3, heads: 2, headDim: 64, latentDim: 32 }

/** Nothing that such a device could make wrongly. */
const nothing: KnownFrames = { latents: [], eosLogits: [], pcm: [], frameMs: 1 }

const open = async (): Promise<GpuKernels> => {
  const adapter = await gpu.requestAdapter()
  if (!adapter) throw new Error('Dawn has no null backend')
  return createGpuKernels({ adapter, selfTest: false })
}

const voiceOf = (positions: number): Voice => ({
  kv: {
    positions,
    heads,
    headDim,
    layers: Array.from({ length: layers }, () => ({
      k: new Float32Array(positions * heads * headDim),
      v: new Float32Array(positions * heads * headDim),
    })),
  },
})

const chunk = (maxFrames: number): PlannedChunk => ({
  text: 'text',
  ids: Uint32Array.of(5, 17, 3),
  framesAfterEos: 1,
  maxFrames,
  span: { start: 0, end: 4 },
})

interface Asked {
  readonly voice?: Voice
  readonly chunks?: readonly PlannedChunk[]
  readonly signal?: AbortSignal
  /** Chunks that are made at once, each with noise of its own. */
  readonly most?: number
}

const usualVoice = voiceOf(20)
const silence: NoiseSource = { next: (length) => new Float32Array(length) }

const speak = (
  backend: Backend,
  { voice = usualVoice, chunks = [chunk(6)], signal, most }: Asked = {},
): AsyncGenerator<AudioFrame, void, void> =>
  driveUtterance(chunks, {
    source: backend.createSource(),
    voice,
    settings: {
      noise: silence,
      noiseOfChunk: most ? () => silence : undefined,
      lsdSteps: 1,
      eosThreshold: Number.POSITIVE_INFINITY,
      onProgress: undefined,
      onWarning: undefined,
    },
    latentDim,
    sampleRate: 24000,
    signal: signal ?? new AbortController().signal,
    aside: most ? { most, createSource: () => backend.createSource() } : undefined,
  })

const count = async (frames: AsyncIterable<AudioFrame>): Promise<number> => {
  let sounding = 0
  for await (const { pcm } of frames) if (pcm.length > 0) sounding++
  return sounding
}

let kernels: GpuKernels
const load = (lanes: number): Promise<Backend> =>
  loadGpuBackend({ weights, config: {}, options: {} }, kernels, nothing, lanes)

beforeEach(async () => {
  kernels = await open()
})
afterEach(() => kernels.dispose())

describe.each([1, 3])('with %i lanes', (lanes) => {
  test('five hundred utterances, some of them cut short, leave the device as full as a hundred', async () => {
    const backend = await load(lanes)
    const voices = [voiceOf(20), voiceOf(33), voiceOf(8), usualVoice]
    const utterance = async (index: number): Promise<void> => {
      const voice = voices[index % voices.length]!
      if (index % 7 === 3) {
        for await (const _ of speak(backend, { voice })) break
      } else if (index % 7 === 5) {
        const stop = new AbortController()
        const frames = speak(backend, { voice, signal: stop.signal, chunks: [chunk(30)] })
        await frames.next()
        stop.abort('enough')
        await expect(frames.next()).rejects.toBe('enough')
      } else {
        await count(speak(backend, { voice, chunks: [chunk(5), chunk(2)] }))
      }
    }
    const round = async (first: number): Promise<number> => {
      for (let index = first; index < first + 100; index += 4) {
        await Promise.all([0, 1, 2, 3].map((each) => utterance(index + each)))
      }
      // Whose states were kept last is a matter of chance: now they have met the longest submits.
      await count(speak(backend, { chunks: [chunk(30)] }))
      await kernels.ready()
      return kernels.bytes
    }
    const bytes: number[] = []
    for (let first = 0; first < 500; first += 100) bytes.push(await round(first))
    expect(bytes).toEqual(bytes.map(() => bytes[0]))
    backend.dispose()
    expect(kernels.bytes).toBe(0)
  }, 120_000)
})

test('who does not listen keeps nobody waiting for a lane', async () => {
  const backend = await load(2)
  const long = { chunks: [chunk(60)] }
  const paused = [speak(backend, long), speak(backend, long)]
  for (const frames of paused) expect((await frames.next()).done).toBe(false)
  // Both lanes are taken, and nobody reads on there.
  expect(await count(speak(backend))).toBe(6)
  expect(await Promise.all([1, 2, 3].map(() => count(speak(backend))))).toEqual([6, 6, 6])
  // What they were to hear has been made meanwhile.
  for (const frames of paused) expect(await count(frames)).toBe(59)
  backend.dispose()
})

test('who waits behind those who do not listen hears of a lost device too', async () => {
  const backend = await load(2)
  const paused = [1, 2].map(() => speak(backend, { chunks: [chunk(60)] }))
  for (const frames of paused) await frames.next()
  kernels.device.destroy()
  await kernels.device.lost
  const lost = { code: 'device-lost' }
  await expect(count(speak(backend))).rejects.toMatchObject(lost)
  for (const frames of paused) await expect(count(frames)).rejects.toMatchObject(lost)
  backend.dispose()
})

test('chunks of one text fill the lanes, others join them, and all lanes are free when the listener leaves', async () => {
  const backend = await load(3)
  const text = { chunks: [5, 4, 6, 3, 5, 2].map(chunk), most: 3 }
  const order: number[] = []
  for await (const { chunkIndex, pcm } of speak(backend, text)) if (pcm.length > 0) order.push(chunkIndex)
  expect(order).toEqual([5, 4, 6, 3, 5, 2].flatMap((frames, index) => Array(frames).fill(index)))
  const both = [count(speak(backend, text)), count(speak(backend))]
  expect(await Promise.all(both)).toEqual([25, 6])
  for await (const { chunkIndex } of speak(backend, text)) if (chunkIndex === 1) break
  const sources = [1, 2, 3].map(() => backend.createSource())
  // Who had to wait for a lane would wait for ever.
  for (const source of sources) await source.start(usualVoice, Uint32Array.of(5), 4)
  for (const source of sources) await source.end()
  backend.dispose()
})

test('while nobody waits, a lane is only a little ahead of who does not listen', async () => {
  const backend = await load(2)
  let rows = 0
  const source = backend.createSource()
  await source.start(usualVoice, Uint32Array.of(5), 60)
  const noise = {
    next: () => {
      rows++
      return new Float32Array(latentDim)
    },
  }
  const steps = source.run!(noise, { lsdSteps: 1 })[Symbol.asyncIterator]()
  await steps.next()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(rows).toBeLessThan(8)
  await steps.return?.()
  await source.end()
  backend.dispose()
})

describe('how work is cut', () => {
  const loadWith = (
    options: Partial<Pick<LoadOptions, 'gpuTuning' | 'signal'>>,
    lanes = 1,
  ): Promise<Backend> => loadGpuBackend({ weights, config: {}, options }, kernels, nothing, lanes)

  test.each([1, 2])('is found by timing frames in %i lanes, which leave nothing behind', async (lanes) => {
    // Pinned, nothing is timed: what loading takes without.
    const pinned = await loadWith({ gpuTuning: {} }, lanes)
    const { bytes } = kernels
    pinned.dispose()
    kernels = await open()
    using tune = vi.spyOn(kernels, 'tune')
    const backend = await loadWith({}, lanes)
    const report: TuningReport = await tune.mock.results[0]!.value
    expect(report.tried.length).toBeGreaterThan(0)
    expect(backend.report.tuning).toEqual(report.tuning)
    // Buffers that results are read through stay: of four frames, in each lane.
    expect(kernels.bytes - bytes).toBeLessThan(lanes * 131_072)
    backend.dispose()
  })

  test('is as it is pinned', async () => {
    using tune = vi.spyOn(kernels, 'tune')
    const backend = await loadWith({ gpuTuning: { workgroup: 128, unroll: 3 } })
    expect(backend.report.tuning).toEqual({ ...kernels.tuning, workgroup: 128, unroll: 3 })
    expect(tune).not.toHaveBeenCalled()
    backend.dispose()
    kernels = await open()
    await expect(loadWith({ gpuTuning: { threads: 100 } })).rejects.toMatchObject({
      code: 'invalid-option',
      message: expect.stringMatching(/gpuTuning: .*threads is 100/),
    })
  })

  test('is tried no further once loading is aborted, and not at all without memory for a trial', async () => {
    const stop = new AbortController()
    const tune = kernels.tune.bind(kernels)
    using _aborting = vi.spyOn(kernels, 'tune').mockImplementation((...asked) => {
      stop.abort('enough')
      return tune(...asked)
    })
    await expect(loadWith({ signal: stop.signal })).rejects.toBe('enough')
    kernels = await open()
    using _full = vi
      .spyOn(kernels, 'tune')
      .mockRejectedValue(new KernelError('out-of-memory', 'the GPU has no memory left'))
    const backend = await loadWith({})
    expect(backend.report.tuning).toEqual(kernels.tuning)
    backend.dispose()
  })
})
