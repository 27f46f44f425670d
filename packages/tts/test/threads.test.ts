import { mini } from '@pocket/mini'
import {
  type AudioFrame,
  type GenerateOptions,
  loadInWorker,
  PocketTts,
  type SpeechEngine,
} from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endOf, startModule } from './support/child.ts'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'
import { withThreads } from './support/threads.ts'

const text =
  'The road is long. Nobody knows where we are going tonight! Will you come with us, my friend? It is not far.'

const collect = async (engine: SpeechEngine, options: GenerateOptions = {}): Promise<AudioFrame[]> => {
  const frames: AudioFrame[] = []
  for await (const frame of engine.stream(text, options)) frames.push(frame)
  return frames
}

/** A matcher would report every one of the samples. */
const bits = (frames: readonly AudioFrame[]): string[] =>
  frames.map(({ pcm, ...rest }) => JSON.stringify(rest) + Buffer.from(pcm.buffer).toString('base64'))

describe('speech on several threads', () => {
  const chunked = { maxTokensPerChunk: 12, seed: 3 }
  let alone: PocketTts
  let expected: string[]
  beforeAll(async () => {
    alone = await PocketTts.load(mini, { simd: fastest, threads: 1 })
    expected = bits(await collect(alone, chunked))
  })
  afterAll(() => alone.dispose())

  test.each([2, 3])('%i: is the same, frame by frame and bit by bit', async (threads) => {
    const engine = await PocketTts.load(mini, { simd: fastest, threads })
    expect(engine.threads).toBe(threads)
    expect(bits(await collect(engine, chunked))).toEqual(expected)
    engine.dispose()
  })

  test('is the same in a worker, which has threads of its own', async () => {
    const engine = await loadInWorker(mini, { simd: fastest, threads: 2 })
    expect(engine.threads).toBe(2)
    expect(bits(await collect(engine, chunked))).toEqual(expected)
    engine.dispose()
  })

  test('is the same while others speak, leave and are aborted', async () => {
    const engine = await PocketTts.load(mini, { simd: fastest, threads: 2 })
    const controller = new AbortController()
    const leave = async (): Promise<void> => {
      let left = 5
      for await (const _ of engine.stream(text)) if (--left === 0) break
    }
    const abort = async (): Promise<void> => {
      let left = 7
      for await (const _ of engine.stream(text, { signal: controller.signal })) {
        if (--left === 0) controller.abort('enough')
      }
    }
    const [first, second] = await Promise.all([
      collect(engine, chunked),
      collect(engine, chunked),
      leave(),
      expect(abort()).rejects.toBe('enough'),
    ])
    expect(bits(first)).toEqual(expected)
    expect(bits(second)).toEqual(expected)
    engine.dispose()
  })

  test('goes on for hundreds of frames', async () => {
    const long = { framesAfterEos: 320, maxTokensPerChunk: 50 }
    const engine = await PocketTts.load(mini, { simd: fastest, threads: 2 })
    const [here, there] = [await alone.speak('Yes.', long), await engine.speak('Yes.', long)]
    expect(there.chunks).toEqual(here.chunks)
    expect(Buffer.from(there.pcm.buffer).equals(Buffer.from(here.pcm.buffer))).toBe(true)
    engine.dispose()
  })

  test('stops when the model is disposed of in the middle', async () => {
    const engine = await PocketTts.load(mini, { simd: fastest, threads: 2 })
    const stream = engine.stream(text)
    await stream.next()
    await stream.next()
    engine.dispose()
    await refusal(stream.next(), 'disposed')
  })
})

test('a thread that has ended by itself ends the utterance under way, and those after it, with what to do', async () => {
  const { value: tts, threads } = await withThreads(() => PocketTts.load(mini, { simd: fastest, threads: 2 }))
  const stream = tts.stream(text)
  await stream.next()
  await threads[0]!.thread.terminate()
  const toTheEnd = async (): Promise<void> => {
    for await (const _ of stream);
  }
  await refusal(toTheEnd(), 'worker-failed', 'load the model again')
  await refusal(tts.speak(text), 'worker-failed')
  tts.dispose()
})

test('a process ends by itself though nobody disposes of the threads', async () => {
  const code =
    "import { mini } from '@pocket/mini'; import { PocketTts } from '@pocket/tts'; " +
    "const tts = await PocketTts.load(mini, { threads: 3 }); console.log((await tts.generate('Yes.')).length > 0)"
  expect(await endOf(startModule(code))).toMatchObject({ code: 0, output: 'true\n' })
})

test.each([{ threads: 0 }, { threads: 1.5 }, { threads: 65 }, { threads: 2, simd: 'scalar' as const }])(
  '%j is refused before anything is read',
  async (options) => {
    const unread = { model: 'nowhere.safetensors', tokenizer: 'nowhere.model' }
    await refusal(PocketTts.load(unread, options), 'invalid-option', 'threads')
  },
)
