import { chunkNoise, PocketTts, type Voice } from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { driveUtterance } from '../../src/generate/driver.ts'
import type { FrameSource } from '../../src/generate/frame-source.ts'
import type { PlannedChunk } from '../../src/generate/plan-text.ts'
import { scaledNoise } from '../../src/noise/scaled-noise.ts'
import { CpuFrameSource } from '../../src/sources/cpu.ts'
import { HybridFrameSource } from '../../src/sources/hybrid.ts'
import { SharedVoices } from '../../src/sources/shared-voices.ts'
import { refusal } from '../support/errors.ts'
import { fastest } from '../support/levels.ts'
import { tinyFolder, tinyVoice } from '../support/tiny.ts'
import { loadNetworks, type Model, planWords, sameBits, speakChunks } from './embedded-speech.ts'
import { eosAt, ScriptedSource } from './scripted-source.ts'

const noiseOfChunk = (index: number) => scaledNoise(chunkNoise(7, index), 0.5)

describe('chunks of the embedded model', () => {
  let model: Model
  let voice: Voice
  let chunks: PlannedChunk[]

  beforeAll(async () => {
    model = await loadNetworks(fastest)
    const words = await planWords()
    voice = words.voice
    chunks = [...words.chunks, ...words.chunks.toReversed()]
  }, 60_000)
  afterAll(() => model.kernels.dispose())

  test.each([1, 2, 4, 9])('made %i at a time are the same to the bit, in order', async (most) => {
    const create = (): FrameSource => new CpuFrameSource(model.flowLm, model.codec)
    const expected = await speakChunks(create(), chunks, { voice, noiseOfChunk })
    const sources = [
      create,
      () => new HybridFrameSource(model.flowLm, model.codec, new SharedVoices(model.flowLm)),
    ]
    for (const createSource of sources) {
      const aside = { most, createSource }
      const found = await speakChunks(create(), chunks, { voice, noiseOfChunk, aside })
      expect(found.chunks).toEqual(expected.chunks)
      expect(sameBits(found.pcm, expected.pcm)).toBe(true)
    }
  })
})

describe('what is made ahead', () => {
  /** Sources whose chunks are `frames` long, by the order in which they were begun. */
  const watched = (frames: readonly number[]) => {
    const sources: ScriptedSource[] = []
    const createSource = (): FrameSource => {
      const source = new ScriptedSource([eosAt((frames[sources.length] ?? 0) - 1)])
      sources.push(source)
      return source
    }
    return { sources, createSource, open: () => sources.reduce((sum, { open }) => sum + open, 0) }
  }

  const chunk: PlannedChunk = {
    text: 'text',
    ids: Uint32Array.of(1),
    framesAfterEos: 1,
    maxFrames: 20,
    span: { start: 0, end: 4 },
  }

  const drive = (
    aside: { most: number; createSource(): FrameSource },
    count: number,
    signal = new AbortController().signal,
  ) =>
    driveUtterance(
      Array.from({ length: count }, () => chunk),
      {
        source: new ScriptedSource([]),
        voice: { kv: { positions: 0, heads: 1, headDim: 1, layers: [] } },
        settings: {
          noise: { next: () => expect.unreachable('the one stream') },
          noiseOfChunk: () => ({ next: (length) => new Float32Array(length) }),
          lsdSteps: 1,
          eosThreshold: -4,
          onProgress: undefined,
          onWarning: undefined,
        },
        latentDim: 2,
        sampleRate: 24000,
        signal,
        chunkCount: count,
        aside,
      },
    )

  test('begins when the first frame has been heard, and is never more than asked for', async () => {
    const { sources, createSource, open } = watched([3, 2, 4, 1, 2, 3])
    const frames = drive({ most: 3, createSource }, 6)
    let heard = 0
    const next = async (): Promise<number | undefined> => {
      const { value } = await frames.next()
      heard++
      return value?.chunkIndex
    }
    expect(await next()).toBe(0)
    expect(sources.length).toBe(1)
    expect(await next()).toBe(0)
    // Made to their ends, whether they are heard or not.
    await vi.waitFor(() => expect([sources.length, open()]).toEqual([3, 0]))
    const indices: (number | undefined)[] = [0, 0]
    for (let chunkIndex = await next(); chunkIndex !== undefined; chunkIndex = await next()) {
      indices.push(chunkIndex)
      const begun = indices.at(-1)! + 3
      expect(sources.length).toBeLessThanOrEqual(begun)
    }
    expect(indices).toEqual([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 5, 5, 5])
    expect(heard).toBe(16)
    expect([sources.length, open()]).toEqual([6, 0])
  })

  test('stops when the listener leaves, and when it is aborted', async () => {
    const left = watched([9, 9, 9, 9])
    const frames = drive({ most: 4, createSource: left.createSource }, 4)
    await frames.next()
    await frames.next()
    await frames.return?.()
    expect([left.sources.length, left.open()]).toEqual([4, 0])

    const aborted = watched([9, 9, 9, 9])
    const stop = new AbortController()
    const others = drive({ most: 4, createSource: aborted.createSource }, 4, stop.signal)
    await others.next()
    await others.next()
    stop.abort('enough')
    const rest = async (): Promise<void> => {
      for await (const _ of others);
    }
    await expect(rest()).rejects.toBe('enough')
    expect([aborted.sources.length, aborted.open()]).toEqual([4, 0])
  })

  test('fails when its turn has come, after all that was made before', async () => {
    const { sources, createSource, open } = watched([3, 3, 3])
    const failing = (): FrameSource => {
      const source = createSource()
      if (sources.length !== 2) return source
      return {
        start: (...asked) => source.start(...asked),
        next: async (...asked) => {
          const step = await source.next(...asked)
          if (step.latent[1] === 1) throw new Error('a frame that cannot be')
          return step
        },
        end: () => source.end(),
      }
    }
    const heard: number[] = []
    const all = async (): Promise<void> => {
      for await (const { chunkIndex } of drive({ most: 3, createSource: failing }, 3)) heard.push(chunkIndex)
    }
    await expect(all()).rejects.toThrow('a frame that cannot be')
    expect(heard).toEqual([0, 0, 0, 1])
    expect(open()).toBe(0)
  })
})

describe('noiseStream', () => {
  let tts: PocketTts
  beforeAll(async () => {
    tts = await PocketTts.load(tinyFolder, { backend: 'cpu', simd: fastest })
  })
  afterAll(() => tts.dispose())

  const speak = (text: string, options: { noiseStream?: 'chunk' | 'utterance'; temperature?: number } = {}) =>
    tts.speak(text, { voice: tinyVoice, seed: 4, maxTokensPerChunk: 8, framesAfterEos: 2, ...options })

  test('chunk: what comes before a chunk does not matter to it', async () => {
    const short = await speak('Yes. It is late in the evening.', { noiseStream: 'chunk' })
    const long = await speak('Nobody knows the way. It is late in the evening.', { noiseStream: 'chunk' })
    expect(long.chunks.at(-1)).toEqual(short.chunks.at(-1))
    const samples = 1920 * short.chunks.at(-1)!.frames
    expect(samples).toBeGreaterThan(0)
    const [length, index] = [short.chunks.length, long.chunks.length]
    expect(length).toBe(index)
    expect(sameBits(long.pcm.slice(-samples), short.pcm.slice(-samples))).toBe(true)
    const continued = await speak('Yes. It is late in the evening.')
    expect(sameBits(continued.pcm, short.pcm)).toBe(false)
  })

  test('utterance: what one gets without it', async () => {
    const text = 'Yes. It is late.'
    expect((await speak(text, { noiseStream: 'utterance' })).pcm).toEqual((await speak(text)).pcm)
  })

  test('makes no difference at temperature 0', async () => {
    const text = 'Yes. It is late in the evening.'
    const streams = (['chunk', 'utterance'] as const).map((noiseStream) =>
      speak(text, { noiseStream, temperature: 0 }),
    )
    const [own, one] = await Promise.all(streams)
    expect(sameBits(own!.pcm, one!.pcm)).toBe(true)
  })

  test('is refused with noise of the caller, and by other names', async () => {
    const noise = { next: (length: number) => new Float32Array(length) }
    const own = tts.speak('Yes.', { voice: tinyVoice, noise, noiseStream: 'chunk' })
    await refusal(own, 'invalid-option', 'noiseStream', 'utterance')
    const other = tts.speak('Yes.', { voice: tinyVoice, noiseStream: 'sentence' as never })
    await refusal(other, 'invalid-option', 'noiseStream is sentence')
  })
})
