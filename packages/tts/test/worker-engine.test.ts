import { readFile } from 'node:fs/promises'
import { mini } from '@pocket/mini'
import {
  type GenerateOptions,
  type LoadOptions,
  type LoadVoiceOptions,
  loadInWorker,
  type NoiseSource,
  PocketTts,
  referenceNoise,
  type SpeechEngine,
} from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from './support/errors.ts'
import { collect } from './support/frames.ts'
import { fastest } from './support/levels.ts'
import { type SeenThread, withThreads } from './support/threads.ts'
import { tinyVoice } from './support/tiny.ts'

const sentence = 'Hello from my pocket.'
const paragraph =
  'The road is long. Nobody knows where we are going tonight! Will you come with us, my friend?'

let here: PocketTts
let there: SpeechEngine
let thread: SeenThread
beforeAll(async () => {
  here = await PocketTts.load(mini, { simd: fastest })
  const started = await withThreads(() => loadInWorker(mini, { simd: fastest }))
  there = started.value
  thread = started.threads[0]!
})
afterAll(() => {
  here.dispose()
  there.dispose()
})

/** Does the same on both engines; expects the same, and gives it back. */
const expectSame = async <Value>(work: (engine: SpeechEngine) => Promise<Value>): Promise<Value> => {
  const expected = await work(here)
  expect(await work(there)).toEqual(expected)
  return expected
}

const errorOf = async (work: Promise<unknown>): Promise<Error & { code?: string }> => {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof Error) return outcome
  return expect.fail(`expected an error, got ${String(outcome)}`)
}

const expectSameError = async (work: (engine: SpeechEngine) => Promise<unknown>): Promise<void> => {
  const expected = await errorOf(work(here))
  const found = await errorOf(work(there))
  expect(found.constructor).toBe(expected.constructor)
  const { name, message, code } = expected
  expect({ name: found.name, message: found.message, code: found.code }).toEqual({ name, message, code })
}

async function* piecesOf(...pieces: string[]): AsyncGenerator<string, void> {
  yield* pieces
}

describe('a model in a worker', () => {
  test('says of itself what a model on this thread says', () => {
    expect(there.config).toEqual(here.config)
    expect(there.sampleRate).toBe(24000)
    expect(there.canCloneVoices).toBe(here.canCloneVoices)
    expect(there.defaultVoice).toBe('rms')
    expect(there.voices()).toEqual(['awb', 'rms', 'slt'])
    expect(there.warnings).toEqual(here.warnings)
  })

  const cases: [string, string, GenerateOptions][] = [
    ['a sentence', sentence, {}],
    ['a paragraph in chunks', paragraph, { maxTokensPerChunk: 12 }],
    ['another voice and seed', sentence, { voice: 'slt', seed: 7n }],
    ['more flow steps and noise', sentence, { lsdSteps: 3, temperature: 0.7, noiseClamp: 1 }],
    ['nothing after its end', sentence, { framesAfterEos: 0 }],
    ['a chunk that is cut off', 'Yes.', { eosThreshold: 1000 }],
  ]

  test.each(cases)('speaks the same bytes: %s', async (_, text, options) => {
    const { pcm } = await expectSame((engine) => engine.speak(text, options))
    expect(pcm.length).toBeGreaterThan(0)
    expect(await there.generate(text, options)).toEqual(pcm)
  })

  test.each(cases)('streams the same frames: %s', async (_, text, options) => {
    const frames = await expectSame((engine) => collect(engine.stream(text, options)))
    expect(frames.at(-1)?.isLast).toBe(true)
  })

  test('streams the same frames of a text that is still being written', async () => {
    const pieces = paragraph.match(/\s*\S+/g) ?? []
    await expectSame((engine) => collect(engine.stream(piecesOf(...pieces))))
  })

  test('tells its caller of progress and warnings', async () => {
    const heard = async (engine: SpeechEngine) => {
      const told: unknown[] = []
      await engine.speak('Yes.', {
        eosThreshold: 1000,
        onProgress: ({ realTimeFactor: _, ...progress }) => told.push(progress),
        onWarning: (warning) => told.push(warning),
      })
      return told
    }
    const told = await expectSame(heard)
    expect(told.at(-1)).toMatchObject({ code: 'max-frames' })
  })

  test('tells of loading', async () => {
    const stages = new Set<string>()
    const engine = await loadInWorker(mini, { onProgress: ({ stage }) => stages.add(stage) })
    engine.dispose()
    expect([...stages]).toEqual(['language-model', 'codec'])
  })
})

describe('voices', () => {
  test('are loaded by name, place and bytes, bit for bit', async () => {
    const bytes = await readFile(mini.voices.slt)
    for (const source of ['slt', mini.voices.slt, mini.voices.slt.href, new Uint8Array(bytes)]) {
      await expectSame((engine) => engine.loadVoice(source))
    }
  })

  test('are cloned and exported, bit for bit', async () => {
    const recording = await here.generate(sentence, { voice: 'awb' })
    const voice = await expectSame((engine) => engine.cloneVoice(recording, { name: 'Ann', maxSeconds: 1.5 }))
    expect(voice.name).toBe('Ann')
    // What was handed over is still the caller's.
    expect(recording.length).toBeGreaterThan(0)
    const file = await expectSame(async (engine) => engine.exportVoice(voice))
    await expectSame(async (engine) => engine.speak('Yes.', { voice: await engine.loadVoice(file) }))
  })

  test('speak on either engine, wherever they were made', async () => {
    for (const maker of [here, there]) {
      const voice = await maker.loadVoice('slt')
      await expectSame((engine) => engine.generate('Yes.', { voice }))
      expect(voice.kv.layers[0]?.k.length).toBeGreaterThan(0)
    }
  })

  test('go to the worker once, however often they speak, and not at all if they came from there', async () => {
    const sent = () => thread.posted.filter(({ command }) => command === 'keep-cache').length
    const before = sent()
    const foreign = await here.loadVoice('awb')
    for (let i = 0; i < 3; i++) await there.generate('Yes.', { voice: { ...foreign, name: `name ${i}` } })
    expect(sent()).toBe(before + 1)
    const own = await there.loadVoice('awb')
    await there.generate('Yes.', { voice: own })
    expect(sent()).toBe(before + 1)
  })
})

describe('noise of the caller', () => {
  /** Counts what it is asked for. */
  const counted = (source: NoiseSource) => {
    const asked: number[] = []
    const next = (length: number): Float32Array => {
      asked.push(length)
      return source.next(length)
    }
    return { asked, noise: { next } }
  }

  test('is drawn row by row, as on this thread', async () => {
    for (const options of [{}, { noiseClamp: 0.5 }]) {
      const rows = await expectSame(async (engine) => {
        const { asked, noise } = counted(referenceNoise(3))
        return { asked, ...(await engine.speak(sentence, { ...options, noise })) }
      })
      expect(rows.pcm).toEqual(await here.generate(sentence, { ...options, seed: 3 }))
    }
  })

  test('that is no noise is refused', async () => {
    for (const row of [new Float32Array(3), new Float32Array(40), new Float32Array(32).fill(Number.NaN)]) {
      await expectSameError((engine) => engine.generate(sentence, { noise: { next: () => row } }))
    }
  })

  test('that throws rejects with what it threw', async () => {
    const failure = new Error('out of noise')
    const source = referenceNoise()
    let rows = 0
    const noise: NoiseSource = {
      next(length) {
        if (++rows > 4) throw failure
        return source.next(length)
      },
    }
    await expect(there.generate(sentence, { noise })).rejects.toBe(failure)
    expect(rows).toBe(5)
    await expectSame((engine) => engine.generate('Yes.'))
  })
})

describe('errors', () => {
  test('are those of this thread, in class, code and words', async () => {
    await expectSameError((engine) => engine.generate(''))
    await expectSameError((engine) => engine.generate(7 as unknown as string))
    await expectSameError((engine) => collect(engine.stream(undefined as unknown as string)))
    await expectSameError((engine) => engine.speak('Yes.', { voice: 'nobody' }))
    await expectSameError((engine) => engine.speak('Yes.', { voice: './no-such.safetensors' }))
    await expectSameError((engine) => engine.speak('Yes.', { temperature: Number.NaN }))
    await expectSameError((engine) => engine.speak('Yes.', { lsdSteps: 0 }))
    await expectSameError((engine) => engine.speak('Yes.', { seed: -1 }))
    await expectSameError((engine) => engine.loadVoice(tinyVoice))
    await expectSameError((engine) => engine.loadVoice(new Uint8Array(100)))
    await expectSameError((engine) => engine.cloneVoice(new Float32Array(0)))
    await expectSameError((engine) => engine.cloneVoice(new Uint8Array(100)))
    await expectSameError((engine) => engine.cloneVoice(new Float64Array(1920) as unknown as Float32Array))
    await expectSameError((engine) => engine.cloneVoice('me' as unknown as Float32Array))
    await expectSameError((engine) => engine.loadVoice(7 as unknown as string))
    await expectSameError((engine) => engine.loadVoice('slt', { signal: AbortSignal.abort(new Error('no')) }))
    for (const piece of [7, undefined, () => {}]) {
      await expectSameError((engine) =>
        collect(engine.stream(piecesOf('Hello. ', piece as unknown as string))),
      )
    }
    await expectSameError((engine) => engine.loadVoice('slt', null as unknown as LoadVoiceOptions))
    const voice = await here.loadVoice('rms')
    const layers = voice.kv.layers.slice(1)
    await expectSameError((engine) => engine.generate('Yes.', { voice: { kv: { ...voice.kv, layers } } }))
  })

  test('of loading too', async () => {
    for (const load of [PocketTts.load, loadInWorker]) {
      await refusal(load('./no-such-model'), 'not-found', 'no-such-model')
      await refusal(load({ ...mini, model: new Uint8Array(64) }), 'invalid-model')
      await refusal(load(mini, { threads: 0 }), 'invalid-option', 'threads')
      await refusal(load(5 as unknown as string), 'invalid-option', 'source')
      await refusal(load(null as unknown as string), 'invalid-option', 'source')
      await refusal(load(mini, null as unknown as LoadOptions), 'invalid-option', 'options is null')
    }
    await refusal(loadInWorker(mini, { framesAhead: 0 }), 'invalid-option', 'framesAhead')
  })

  test('name what no message can hold', async () => {
    const junk = { junk: () => {} } as GenerateOptions
    await refusal(there.generate('Yes.', junk), 'invalid-option', 'cannot go to the worker')
    await expectSame((engine) => engine.generate('Yes.'))
  })
})
