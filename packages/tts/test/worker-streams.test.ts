import { mini } from '@pocket/mini'
import { type AudioFrame, type GenerateOptions, loadInWorker, type SpeechEngine } from '@pocket/tts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { collect } from './support/frames.ts'
import { fastest } from './support/levels.ts'

const framesAhead = 3
const sentence = 'Hello from my pocket.'
const paragraph =
  'The road is long. Nobody knows where we are going tonight! Will you come with us, my friend?'

let engine: SpeechEngine
beforeAll(async () => {
  engine = await loadInWorker(mini, { simd: fastest, framesAhead })
})
afterAll(() => engine.dispose())

/** A stream, and how many of its frames the worker has made. */
const watched = (text: string | AsyncIterable<string>, options: GenerateOptions = {}) => {
  const seen = { made: 0 }
  const frames = engine.stream(text, { ...options, onProgress: ({ frames }) => (seen.made = frames) })
  return { frames, seen }
}

/** The worker takes turns between its calls: whatever it could do meanwhile, it has done when a whole utterance is over. */
const otherWork = () => engine.generate('Yes.')

describe('a stream from a worker', () => {
  test('asks nothing of the worker before it is read', async () => {
    const { seen } = watched(sentence)
    await otherWork()
    expect(seen.made).toBe(0)
  })

  test('is made no further ahead than was asked for', async () => {
    const { frames, seen } = watched(paragraph)
    for (let taken = 1; taken <= 4; taken++) {
      await frames.next()
      await vi.waitUntil(() => seen.made === taken + framesAhead, { timeout: 60_000 })
      await otherWork()
      expect(seen.made).toBe(taken + framesAhead)
    }
    await frames.return?.()
  })

  test('comes whole to a reader that asks for many frames at once', async () => {
    const expected = await collect(engine.stream(sentence))
    const frames = engine.stream(sentence)
    const asked = await Promise.all(Array.from({ length: expected.length + 5 }, () => frames.next()))
    expect(asked.flatMap(({ done, value }) => (done ? [] : [value]))).toEqual(expected)
    expect(await frames.next()).toEqual({ done: true, value: undefined })
  })

  test('goes on beside another', async () => {
    const calls: [string, GenerateOptions][] = [
      [paragraph, { voice: 'rms', seed: 1 }],
      [sentence, { voice: 'slt', seed: 2, lsdSteps: 2 }],
    ]
    const alone: AudioFrame[][] = []
    for (const [text, options] of calls) alone.push(await collect(engine.stream(text, options)))
    const order: number[] = []
    const together = await Promise.all(
      calls.map(async ([text, options], which) => {
        const all: AudioFrame[] = []
        for await (const frame of engine.stream(text, options)) {
          order.push(which)
          all.push(frame)
        }
        return all
      }),
    )
    expect(together).toEqual(alone)
    const shorter = Math.min(...alone.map(({ length }) => length))
    expect(order.filter((which, i) => i > 0 && which !== order[i - 1]).length).toBeGreaterThan(shorter / 2)
  })

  test('waits for a slow reader without forgetting anything', async () => {
    const expected = await collect(engine.stream(sentence))
    const taken: AudioFrame[] = []
    for await (const frame of engine.stream(sentence)) {
      taken.push(frame)
      if (taken.length % 8 === 0) await otherWork()
    }
    expect(taken).toEqual(expected)
  })
})

describe('stopping', () => {
  test('law: an abort at any frame ends with its reason, after no more frames, and leaves the engine as it was', async () => {
    const expected = await collect(engine.stream(sentence))
    await fc.assert(
      fc.asyncProperty(fc.nat(expected.length - 2), async (at) => {
        const controller = new AbortController()
        const reason = { why: 'enough' }
        const taken: AudioFrame[] = []
        const reading = (async () => {
          for await (const frame of engine.stream(sentence, { signal: controller.signal })) {
            taken.push(frame)
            if (frame.index === at) controller.abort(reason)
          }
        })()
        await expect(reading).rejects.toBe(reason)
        expect(taken).toEqual(expected.slice(0, at + 1))
      }),
      { numRuns: 20 },
    )
    expect(await collect(engine.stream(sentence))).toEqual(expected)
  })

  test('an abort while a frame is being made stops it', async () => {
    for (const speak of [
      (options: GenerateOptions) => engine.speak(paragraph, options),
      (options: GenerateOptions) => collect(engine.stream(paragraph, options)),
    ]) {
      const controller = new AbortController()
      const reason = new Error('enough')
      let made = 0
      const onProgress = (): void => {
        if (++made === 3) setTimeout(() => controller.abort(reason), 0)
      }
      await expect(speak({ signal: controller.signal, onProgress })).rejects.toBe(reason)
      await otherWork()
      expect(made).toBeLessThan(30)
    }
  })

  test('a signal that is aborted already stops a call before it begins', async () => {
    const signal = AbortSignal.abort('no')
    await expect(engine.speak(sentence, { signal })).rejects.toBe('no')
    await expect(engine.stream(sentence, { signal }).next()).rejects.toBe('no')
    await expect(engine.cloneVoice(new Float32Array(1920), { signal })).rejects.toBe('no')
  })

  test('a reader that leaves makes the worker leave too', async () => {
    const { frames, seen } = watched(paragraph)
    for await (const { index } of frames) if (index === 2) break
    await otherWork()
    const made = seen.made
    await otherWork()
    expect(seen.made).toBe(made)
    expect(await frames.next()).toEqual({ done: true, value: undefined })
  })

  test('leaving ends a read that is waiting', async () => {
    const frames = engine.stream(sentence)
    const reading = frames.next()
    await frames.return?.()
    expect(await reading).toEqual({ done: true, value: undefined })
  })

  test('leaving before the first read asks nothing of the worker', async () => {
    const { frames, seen } = watched(sentence)
    await frames.return?.()
    expect(await frames.next()).toEqual({ done: true, value: undefined })
    await otherWork()
    expect(seen.made).toBe(0)
  })

  test('a callback that throws ends the call with what it threw', async () => {
    const failure = new Error('in the callback')
    const onProgress = ({ frames }: { frames: number }) => {
      if (frames === 3) throw failure
    }
    await expect(engine.speak(paragraph, { onProgress })).rejects.toBe(failure)
    await expect(collect(engine.stream(paragraph, { onProgress }))).rejects.toBe(failure)
    await otherWork()
  })
})

describe('text that is still being written', () => {
  /** Text of which `waiting` counts the pieces asked for. */
  const written = (...pieces: (string | Error)[]) => {
    const seen = { asked: 0, left: false }
    const text: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          const piece = pieces[seen.asked++]
          if (piece instanceof Error) throw piece
          // After its pieces it never answers, as a writer that thinks.
          return piece === undefined ? new Promise(() => {}) : { done: false, value: piece }
        },
        async return() {
          seen.left = true
          return { done: true, value: undefined }
        },
      }),
    }
    return { text, seen }
  }

  test('is asked for when it is needed', async () => {
    const { text, seen } = written('Yes. ', 'No. ', 'Maybe. ')
    const frames = engine.stream(text)
    expect(seen.asked).toBe(0)
    await frames.next()
    await otherWork()
    // The first sentence is over with the space after it; only when it has been read is there a reason to ask for more.
    expect(seen.asked).toBe(1)
    await frames.return?.()
    expect(seen.left).toBe(true)
  })

  test('that fails rejects with what it threw, after the speech before it', async () => {
    const failure = new Error('the writer is gone')
    const { text } = written('Yes. ', failure)
    const taken: AudioFrame[] = []
    const reading = (async () => {
      for await (const frame of engine.stream(text)) taken.push(frame)
    })()
    await expect(reading).rejects.toBe(failure)
    const whole = await collect(engine.stream('Yes.'))
    expect(taken.map(({ pcm }) => pcm)).toEqual(whole.map(({ pcm }) => pcm))
  })

  test('that never comes does not hold up an abort or a reader that leaves', async () => {
    const controller = new AbortController()
    const aborted = written()
    const reading = engine.stream(aborted.text, { signal: controller.signal }).next()
    await vi.waitUntil(() => aborted.seen.asked === 1, { timeout: 60_000 })
    controller.abort('enough')
    await expect(reading).rejects.toBe('enough')
    expect(aborted.seen.left).toBe(true)

    const left = written()
    const frames = engine.stream(left.text)
    const waiting = frames.next()
    await vi.waitUntil(() => left.seen.asked === 1, { timeout: 60_000 })
    await frames.return?.()
    expect((await waiting).done).toBe(true)
    expect(left.seen.left).toBe(true)
  })
})
