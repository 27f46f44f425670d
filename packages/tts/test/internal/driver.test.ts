import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DriveContext, driveUtterance } from '../../src/generate/driver.ts'
import type { PlannedChunk } from '../../src/generate/plan-text.ts'
import type { AudioFrame, GenerateProgress, UtteranceChunk, Warning } from '../../src/generate/utterance.ts'
import type { Voice } from '../../src/voices/voice.ts'
import { CountingNoise, eosAt, ScriptedSource, silent } from './scripted-source.ts'

const voice: Voice = { kv: { positions: 0, heads: 1, headDim: 2, layers: [] } }

const chunkOf = (framesAfterEos: number, maxFrames: number, text = 'text'): PlannedChunk => ({
  text,
  ids: Uint32Array.of(1, 2, 3),
  framesAfterEos,
  maxFrames,
  span: { start: 0, end: text.length },
})

const run = (
  source: ScriptedSource,
  chunks: PlannedChunk[],
  { settings, ...overrides }: Partial<DriveContext> = {},
) => {
  const noise = new CountingNoise()
  const done: UtteranceChunk[] = []
  const warnings: Warning[] = []
  const progress: GenerateProgress[] = []
  const frames = driveUtterance(chunks, {
    source,
    voice,
    settings: {
      noise,
      lsdSteps: 3,
      eosThreshold: -4,
      onWarning: (warning) => warnings.push(warning),
      onProgress: (each) => progress.push(each),
      ...settings,
    },
    latentDim: 2,
    sampleRate: 50,
    signal: new AbortController().signal,
    chunkCount: chunks.length,
    onChunk: (chunk) => done.push(chunk),
    ...overrides,
  })
  return { frames, noise, done, warnings, progress }
}

const collect = async (frames: AsyncIterable<AudioFrame>): Promise<AudioFrame[]> => {
  const all: AudioFrame[] = []
  for await (const frame of frames) all.push(frame)
  return all
}

describe('the end of speech', () => {
  test('is the first logit above the threshold; the frame that trips the break is drawn, not computed, not emitted', async () => {
    const source = new ScriptedSource([eosAt(4)])
    const { frames, noise, done } = run(source, [chunkOf(3, 50)])
    const spoken = await collect(frames)
    expect(spoken.map(({ pcm }) => pcm[0])).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(done).toEqual([
      { text: 'text', ids: [1, 2, 3], framesAfterEos: 3, maxFrames: 50, frames: 7, eosStep: 4 },
    ])
    expect(noise.drawn).toBe(8)
    expect(source.asked.length).toBe(7)
  })

  test('a logit equal to the threshold is not above it', async () => {
    const source = new ScriptedSource([[silent, -4, silent, -3.9999]])
    const { frames, done } = run(source, [chunkOf(1, 50)])
    await collect(frames)
    expect(done[0]).toMatchObject({ eosStep: 3, frames: 4 })
  })

  test('a later, higher logit changes nothing', async () => {
    const source = new ScriptedSource([[silent, 0, 5, 5, 5]])
    const { frames, done } = run(source, [chunkOf(2, 50)])
    await collect(frames)
    expect(done[0]).toMatchObject({ eosStep: 1, frames: 3 })
  })

  test('at step 0 with nothing after it: no frames, one row of noise, no error', async () => {
    const source = new ScriptedSource([eosAt(0)])
    const { frames, noise, done, warnings } = run(source, [chunkOf(0, 50)])
    const spoken = await collect(frames)
    expect(spoken).toHaveLength(1)
    expect(spoken[0]).toMatchObject({ isLast: true, index: 0, chunkIndex: 0 })
    expect(spoken[0]?.pcm).toHaveLength(0)
    expect(done[0]).toMatchObject({ eosStep: 0, frames: 0 })
    expect(noise.drawn).toBe(1)
    expect(warnings).toEqual([])
  })

  test('never found: every frame up to the limit, and a warning', async () => {
    const { frames, noise, done, warnings } = run(new ScriptedSource([]), [chunkOf(3, 6)])
    const spoken = await collect(frames)
    expect(spoken).toHaveLength(6)
    expect(spoken.map(({ isLast }) => isLast)).toEqual([false, false, false, false, false, true])
    expect(done[0]).toMatchObject({ eosStep: null, frames: 6 })
    expect(noise.drawn).toBe(6)
    expect(warnings).toMatchObject([{ code: 'max-frames', span: { start: 0, end: 4 } }])
  })

  test('found, with more frames to follow than the limit leaves: a warning too', async () => {
    const { frames, done, warnings } = run(new ScriptedSource([eosAt(2)]), [chunkOf(1000, 6)])
    expect(await collect(frames)).toHaveLength(6)
    expect(done[0]).toMatchObject({ eosStep: 2, frames: 6 })
    expect(warnings).toMatchObject([{ code: 'max-frames' }])
  })
})

describe('chunks', () => {
  test('each begins with BOS and feeds its own latents; the noise goes on', async () => {
    const source = new ScriptedSource([eosAt(1), eosAt(0)])
    const { frames } = run(source, [chunkOf(1, 50), chunkOf(2, 40)])
    await collect(frames)
    expect(source.started).toEqual([
      { ids: [1, 2, 3], maxFrames: 50 },
      { ids: [1, 2, 3], maxFrames: 40 },
    ])
    expect(source.asked).toEqual([
      { previous: null, noise: [1, 1], lsdSteps: 3 },
      { previous: [0, 0], noise: [2, 2], lsdSteps: 3 },
      // Row 3 was drawn by the step that ended the first chunk.
      { previous: null, noise: [4, 4], lsdSteps: 3 },
      { previous: [1, 0], noise: [5, 5], lsdSteps: 3 },
    ])
  })

  test('frames are numbered through, and the last one says so at once', async () => {
    const source = new ScriptedSource([eosAt(0), eosAt(1)])
    const { frames } = run(source, [chunkOf(1, 50, 'a'), chunkOf(1, 50, 'bc')])
    const spoken = await collect(frames)
    expect(spoken.map(({ pcm: _, ...frame }) => frame)).toEqual([
      { index: 0, chunkIndex: 0, span: { start: 0, end: 1 }, isLast: false },
      { index: 1, chunkIndex: 1, span: { start: 0, end: 2 }, isLast: false },
      { index: 2, chunkIndex: 1, span: { start: 0, end: 2 }, isLast: true },
    ])
  })

  test('where only the next step could tell, an empty frame says that it is over', async () => {
    const { frames } = run(new ScriptedSource([eosAt(2)]), [chunkOf(0, 50)])
    const spoken = await collect(frames)
    expect(spoken.map(({ pcm, isLast }) => [pcm.length, isLast])).toEqual([
      [4, false],
      [4, false],
      [0, true],
    ])
  })

  test('progress counts frames, seconds and chunks', async () => {
    const source = new ScriptedSource([eosAt(0), eosAt(1)])
    const { frames, progress } = run(source, [chunkOf(1, 50), chunkOf(1, 50)])
    await collect(frames)
    expect(progress).toMatchObject([
      { chunkIndex: 0, chunkCount: 2, frames: 1, seconds: 0.08 },
      { chunkIndex: 1, chunkCount: 2, frames: 2, seconds: 0.16 },
      { chunkIndex: 1, chunkCount: 2, frames: 3, seconds: 0.24 },
    ])
    for (const { realTimeFactor } of progress) expect(realTimeFactor).toBeGreaterThan(0)
  })

  test('law: frames, steps and noise follow from the logits alone', async () => {
    const anyChunk = fc.record({
      eos: fc.option(fc.nat(20)),
      framesAfterEos: fc.nat(8),
      maxFrames: fc.integer({ min: 1, max: 25 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyChunk, { minLength: 1, maxLength: 4 }), async (cases) => {
        const source = new ScriptedSource(cases.map(({ eos }) => (eos === null ? [] : eosAt(eos))))
        const chunks = cases.map(({ framesAfterEos, maxFrames }) => chunkOf(framesAfterEos, maxFrames))
        const { frames, noise, done } = run(source, chunks)
        const spoken = await collect(frames)
        const expected = cases.map(({ eos, framesAfterEos, maxFrames }) => {
          const wanted = eos === null ? Number.POSITIVE_INFINITY : eos + framesAfterEos
          return { frames: Math.min(wanted, maxFrames), steps: Math.min(wanted + 1, maxFrames) }
        })
        const total = expected.reduce((sum, chunk) => sum + chunk.frames, 0)
        expect(done.map((chunk) => chunk.frames)).toEqual(expected.map((chunk) => chunk.frames))
        expect(noise.drawn).toBe(expected.reduce((sum, { steps }) => sum + steps, 0))
        expect(spoken.filter(({ pcm }) => pcm.length > 0)).toHaveLength(total)
        expect(spoken.map(({ index }) => index)).toEqual([...spoken.keys()])
        expect(spoken.map(({ isLast }) => isLast)).toEqual(spoken.map((_, i) => i === spoken.length - 1))
        expect(source.open).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
})

describe('stopping', () => {
  test('leaving the loop ends the chunk', async () => {
    const source = new ScriptedSource([])
    const { frames } = run(source, [chunkOf(1, 50)])
    for await (const { index } of frames) if (index === 3) break
    expect(source).toMatchObject({ ended: 1, open: 0 })
    expect(source.asked).toHaveLength(4)
  })

  test('an abort from a timer gets through and ends within a frame, with its reason', async () => {
    const controller = new AbortController()
    const source = new ScriptedSource([])
    const { frames } = run(source, [chunkOf(1, 1_000_000)], { signal: controller.signal })
    const reason = new Error('enough')
    setTimeout(() => controller.abort(reason), 5)
    await expect(collect(frames)).rejects.toBe(reason)
    expect(source.open).toBe(0)
  })

  test('an abort during a step stops before its frame is handed on', async () => {
    const controller = new AbortController()
    const source = new ScriptedSource([])
    const { frames } = run(source, [chunkOf(1, 50)], { signal: controller.signal })
    const next = source.next.bind(source)
    source.next = (...asked) => {
      if (source.asked.length === 2) controller.abort()
      return next(...asked)
    }
    const seen: number[] = []
    await expect(
      (async () => {
        for await (const { index } of frames) seen.push(index)
      })(),
    ).rejects.toMatchObject({ name: 'AbortError' })
    expect(seen).toEqual([0, 1])
    expect(source.open).toBe(0)
  })

  test('a backend that fails is ended, and its error arrives as it is', async () => {
    const source = new ScriptedSource([])
    const failure = new Error('device lost')
    source.next = () => Promise.reject(failure)
    const { frames } = run(source, [chunkOf(1, 50)])
    await expect(collect(frames)).rejects.toBe(failure)
    expect(source.open).toBe(0)
  })

  test('a callback that throws stops the work', async () => {
    const source = new ScriptedSource([])
    const failure = new Error('in the callback')
    const onProgress = () => {
      throw failure
    }
    const settings = {
      noise: new CountingNoise(),
      lsdSteps: 1,
      eosThreshold: -4,
      onProgress,
      onWarning: undefined,
    }
    const { frames } = run(source, [chunkOf(1, 50)], { settings })
    await expect(collect(frames)).rejects.toBe(failure)
    expect(source.open).toBe(0)
  })

  test('timers run between frames', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const source = new ScriptedSource([])
    const { frames } = run(source, [chunkOf(1, 2000)])
    await collect(frames)
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(0)
  })
})
