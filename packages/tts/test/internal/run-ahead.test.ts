import { type NoiseSource, referenceNoise, type Voice } from '@pocket/tts'
import { relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FrameSource, type Step, samplesOf } from '../../src/generate/frame-source.ts'
import type { PlannedChunk } from '../../src/generate/plan-text.ts'
import { scaledNoise } from '../../src/noise/scaled-noise.ts'
import { CpuFrameSource } from '../../src/sources/cpu.ts'
import { HybridFrameSource } from '../../src/sources/hybrid.ts'
import { type Pace, RunAheadSource } from '../../src/sources/run-ahead.ts'
import { SharedVoices } from '../../src/sources/shared-voices.ts'
import { fastest } from '../support/levels.ts'
import {
  every,
  loadNetworks,
  type Model,
  planWords,
  type Speech,
  type Spoken,
  sameBits,
  speakChunks,
} from './embedded-speech.ts'
import { PlanStreams } from './plan-streams.ts'

const paces: [string, Pace][] = [
  ['k = 1, one in flight', every(1, 1)],
  ['k = 1, three in flight', every(1, 3)],
  ['k = 3, two in flight', every(3, 2)],
  ['k = 8, three in flight', every(8, 3)],
  ['k = 1, 1, 2, 4', { framesPerSubmit: [1, 1, 2, 4], inFlight: 2 }],
]

let model: Model
let voice: Voice
let chunks: PlannedChunk[]

beforeAll(async () => {
  model = await loadNetworks(fastest)
  const words = await planWords()
  voice = words.voice
  chunks = words.chunks
}, 60_000)
afterAll(() => model.kernels.dispose())

const speak = (source: FrameSource, what: PlannedChunk[], speech: Omit<Speech, 'voice'> = {}) =>
  speakChunks(source, what, { ...speech, voice })

describe('a source that runs ahead of the driver', () => {
  let lockstep: Spoken

  beforeAll(async () => {
    lockstep = await speak(new CpuFrameSource(model.flowLm, model.codec), chunks)
    // The chunks end by themselves, at different frames: there are frames to drop, and noise to keep.
    for (const chunk of lockstep.chunks) expect(chunk.eosStep).not.toBeNull()
    expect(new Set(lockstep.chunks.map(({ frames }) => frames % 8)).size).toBeGreaterThan(1)
  })

  test.each(paces)('%s: speaks as one that does not, and ends where it ends', async (_, pace) => {
    const streams = new PlanStreams(model.kernels)
    const ahead = await speak(new RunAheadSource(model, streams, pace), chunks)
    expect(ahead.chunks).toEqual(lockstep.chunks)
    // The latents are the same to the last bit (frame-recording.test.ts); the executor denormalises them in float32.
    expect(relativeL2(ahead.pcm, lockstep.pcm)).toBeLessThan(1e-5)
    expect(streams.open).toBe(0)
    const mostAhead = Math.max(...pace.framesPerSubmit) * pace.inFlight
    expect(streams.runs).toBeLessThanOrEqual(ahead.frames + chunks.length * mostAhead)
  })

  test('the bits do not depend on how far it runs ahead', async () => {
    const streams = new PlanStreams(model.kernels)
    const [first, ...others] = await Promise.all(
      paces.map(([, pace]) => speak(new RunAheadSource(model, streams, pace), chunks)),
    )
    for (const { pcm } of others) expect(sameBits(pcm, first!.pcm)).toBe(true)
  })

  test('frame by frame, as any source, it gives the same bits', async () => {
    const streams = new PlanStreams(model.kernels)
    const ahead = await speak(new RunAheadSource(model, streams, every(3, 2)), chunks)
    const source = new RunAheadSource(model, streams, every(3, 2))
    const inLockstep: FrameSource = {
      start: (voice, ids, maxFrames) => source.start(voice, ids, maxFrames),
      next: (...asked) => source.next(...asked),
      end: () => source.end(),
    }
    expect(sameBits((await speak(inLockstep, chunks)).pcm, ahead.pcm)).toBe(true)
  })

  test('several LSD steps', async () => {
    const some = chunks.slice(0, 1)
    const cpu = await speak(new CpuFrameSource(model.flowLm, model.codec), some, { lsdSteps: 3 })
    const source = new RunAheadSource(model, new PlanStreams(model.kernels), every(3, 2))
    const ahead = await speak(source, some, { lsdSteps: 3 })
    expect(ahead.chunks).toEqual(cpu.chunks)
    expect(relativeL2(ahead.pcm, cpu.pcm)).toBeLessThan(1e-4)
  })

  test('on the oracle, which denormalises as the host does, it is the same to the last bit', async () => {
    const oracle = await loadNetworks('scalar')
    const short = chunks.slice(0, 2).map((chunk) => ({ ...chunk, maxFrames: 3 }))
    const cpu = await speak(new CpuFrameSource(oracle.flowLm, oracle.codec), short)
    const ahead = await speak(new RunAheadSource(oracle, new PlanStreams(oracle.kernels), every(2, 2)), short)
    expect(sameBits(ahead.pcm, cpu.pcm)).toBe(true)
    oracle.kernels.dispose()
  })
})

describe('what was submitted in vain', () => {
  test('never goes beyond the greatest length', async () => {
    const streams = new PlanStreams(model.kernels)
    const limited = chunks.map((chunk) => ({ ...chunk, maxFrames: 5 }))
    const { frames } = await speak(new RunAheadSource(model, streams, every(3, 4)), limited)
    expect(frames).toBe(15)
    expect(streams.submits).toEqual([3, 2, 3, 2, 3, 2])
  })

  test('noise that ends with the speech is enough', async () => {
    const lockstep = await speak(new CpuFrameSource(model.flowLm, model.codec), chunks)
    const needed = lockstep.chunks.reduce((rows, { frames }) => rows + frames + 1, 0)
    const noise = endingAfter(needed)
    const ahead = await speak(
      new RunAheadSource(model, new PlanStreams(model.kernels), every(8, 3)),
      chunks,
      {
        noise,
      },
    )
    expect(ahead.chunks).toEqual(lockstep.chunks)
  })

  test('noise that ends before it stops the speech where its row was needed', async () => {
    let frames = 0
    const spoken = speak(new RunAheadSource(model, new PlanStreams(model.kernels), every(8, 3)), chunks, {
      noise: endingAfter(4),
      onFrame: () => frames++,
    })
    await expect(spoken).rejects.toThrow('no more noise')
    expect(frames).toBe(4)
  })

  test.each(paces)('%s: an abort gives everything back', async (_, pace) => {
    const streams = new PlanStreams(model.kernels)
    const controller = new AbortController()
    const reason = new Error('enough')
    const spoken = speak(new RunAheadSource(model, streams, pace), chunks, {
      signal: controller.signal,
      onFrame: (index) => {
        if (index === 2) controller.abort(reason)
      },
    })
    await expect(spoken).rejects.toBe(reason)
    const { runs } = streams
    expect(streams.open).toBe(0)
    // What was submitted by then ends with the stream.
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(streams.runs).toBeLessThanOrEqual(runs + 1)
    expect(
      (await speak(new RunAheadSource(model, streams, pace), chunks.slice(0, 1))).frames,
    ).toBeGreaterThan(3)
  })
})

/** The rows of the other tests, and then an error. */
const endingAfter = (rows: number): NoiseSource => {
  const noise = scaledNoise(referenceNoise(11), 0.5)
  let drawn = 0
  return {
    next: (length) => {
      if (drawn++ === rows) throw new Error('no more noise')
      return noise.next(length)
    },
  }
}

test('two networks on their own executors say the same, side by side with one shared voice', async () => {
  const { flowLm, codec } = model
  const expected = await speak(new CpuFrameSource(flowLm, codec), chunks)
  const voices = new SharedVoices(flowLm)
  const sources = [1, 2].map(() => new HybridFrameSource(flowLm, codec, voices))
  for (const spoken of await Promise.all(sources.map((source) => speak(source, chunks)))) {
    expect(sameBits(spoken.pcm, expected.pcm)).toBe(true)
  }
})

test('a frame that was being decoded when the next step failed is heard', async () => {
  const { flowLm, codec } = model
  const expected = await speak(new CpuFrameSource(flowLm, codec), chunks.slice(0, 1))
  const step = flowLm.step.bind(flowLm)
  let steps = 0
  using _ = vi.spyOn(flowLm, 'step').mockImplementation((...asked) => {
    if (steps++ === 4) throw new Error('a thread has ended')
    return step(...asked)
  })
  const heard: Step[] = []
  const source = new HybridFrameSource(flowLm, codec, new SharedVoices(flowLm))
  const noise = scaledNoise(referenceNoise(11), 0.5)
  await source.start(voice, chunks[0]!.ids, 40)
  const speaking = async (): Promise<void> => {
    const rows = { next: () => noise.next(flowLm.config.latentDim) }
    for await (const frame of source.run(rows, { lsdSteps: 1 })) heard.push(frame)
  }
  await expect(speaking()).rejects.toThrow('a thread has ended')
  await source.end()
  const samples = await Promise.all(heard.map(samplesOf))
  expect(samples).toHaveLength(4)
  for (const [frame, pcm] of samples.entries()) {
    expect(sameBits(pcm, expected.pcm.slice(frame * 1920, (frame + 1) * 1920))).toBe(true)
  }
})

test('a hybrid source that gets no decoder, as from a GPU that is gone, holds nothing', async () => {
  const gone = await loadNetworks(fastest)
  gone.kernels.dispose()
  const voices = new SharedVoices(model.flowLm)
  using createState = vi.spyOn(model.flowLm, 'createState')
  using release = vi.spyOn(voices, 'release')
  const source = new HybridFrameSource(model.flowLm, gone.codec, voices)
  const disposed = { code: 'disposed' }
  await expect(source.start(voice, Uint32Array.of(1), 4)).rejects.toMatchObject(disposed)
  await source.end()
  await expect(createState.mock.results[0]?.value.snapshot()).rejects.toMatchObject(disposed)
  expect(release).toHaveBeenCalledOnce()
})
