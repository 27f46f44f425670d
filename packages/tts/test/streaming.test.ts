import { setTimeout as sleep } from 'node:timers/promises'
import { mini } from '@pocket/mini'
import { type AudioFrame, PocketTts } from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'

const joined = (frames: readonly AudioFrame[]): number[] => frames.flatMap(({ pcm }) => [...pcm])

async function* piecesOf(...pieces: string[]): AsyncGenerator<string, void> {
  for (const piece of pieces) {
    await sleep(0)
    yield piece
  }
}

/** Words, as a language model gives them. */
const words = (text: string): AsyncGenerator<string, void> => piecesOf(...(text.match(/\s*\S+/g) ?? []))

describe('a stream', () => {
  let tts: PocketTts
  beforeAll(async () => {
    tts = await PocketTts.load(mini, { simd: fastest })
  })
  afterAll(() => tts.dispose())

  const collect = async (frames: AsyncIterable<AudioFrame>): Promise<AudioFrame[]> => {
    const all: AudioFrame[] = []
    for await (const frame of frames) all.push(frame)
    return all
  }
  /** How many states of the language model are alive. */
  const countStates = () => {
    const { createState } = tts.flowLm
    let alive = 0
    const spy = vi.spyOn(tts.flowLm, 'createState').mockImplementation((options) => {
      const state = createState.call(tts.flowLm, options)
      const dispose = state.dispose.bind(state)
      alive++
      state.dispose = () => {
        alive--
        dispose()
      }
      return state
    })
    return {
      alive: () => alive,
      made: () => spy.mock.calls.length,
      [Symbol.dispose]: () => spy.mockRestore(),
    }
  }

  const text = 'Hello there. How are you today, my friend? I am well!'

  test('is what generate gives, frame by frame', async () => {
    const options = { maxTokensPerChunk: 12, seed: 9 }
    const frames = await collect(tts.stream(text, options))
    const { pcm, chunks } = await tts.speak(text, options)
    expect(joined(frames)).toEqual([...pcm])
    expect(frames.every((frame) => frame.pcm.length === 1920)).toBe(true)
    expect(frames.map(({ index }) => index)).toEqual([...frames.keys()])
    expect(frames.map(({ isLast }) => isLast)).toEqual(frames.map((_, i) => i === frames.length - 1))
    for (const [chunkIndex, chunk] of chunks.entries()) {
      const own = frames.filter((frame) => frame.chunkIndex === chunkIndex)
      expect(own).toHaveLength(chunk.frames)
      const { start, end } = own[0]?.span ?? { start: 0, end: 0 }
      expect(chunk.text.toLowerCase()).toContain(text.slice(start, end).toLowerCase())
    }
  })

  test('hands the first frame over before the second is made', async () => {
    using step = vi.spyOn(tts.flowLm, 'step')
    const frames = tts.stream(text)
    const { value } = await frames.next()
    expect(value).toMatchObject({ index: 0, isLast: false })
    expect(step).toHaveBeenCalledTimes(1)
    await frames.return?.()
  })

  test('makes nothing that is not asked for', async () => {
    using step = vi.spyOn(tts.flowLm, 'step')
    const frames = tts.stream(text)
    await sleep(5)
    expect(step).not.toHaveBeenCalled()
    await frames.return?.()
    expect((await frames.next()).done).toBe(true)
    expect(step).not.toHaveBeenCalled()
  })

  test('left early frees what it held', async () => {
    using states = countStates()
    for await (const { index } of tts.stream(text)) {
      expect(states.alive()).toBe(1)
      if (index === 2) break
    }
    expect(states.alive()).toBe(0)
    const frames = tts.stream(text)
    await frames.next()
    await frames.return?.()
    expect(states.alive()).toBe(0)
  })

  test('ends with the reason of an abort', async () => {
    using states = countStates()
    const controller = new AbortController()
    const reason = new Error('quiet, please')
    const seen: number[] = []
    const listening = (async () => {
      for await (const { index } of tts.stream(text, { signal: controller.signal })) {
        seen.push(index)
        if (index === 3) controller.abort(reason)
      }
    })()
    await expect(listening).rejects.toBe(reason)
    expect(seen).toEqual([0, 1, 2, 3])
    expect(states.alive()).toBe(0)
  })

  describe('of a text that is still being written', () => {
    test('speaks each sentence when it is over, before the next is there', async () => {
      const log: string[] = []
      async function* writer(): AsyncGenerator<string, void> {
        for (const piece of ['Hello ', 'there. ', 'How are ', 'you?']) {
          log.push(`wrote ${piece.trim()}`)
          yield piece
        }
      }
      for await (const { chunkIndex } of tts.stream(writer())) {
        if (log.at(-1) !== `spoke ${chunkIndex}`) log.push(`spoke ${chunkIndex}`)
      }
      expect(log).toEqual([
        'wrote Hello',
        'wrote there.',
        'spoke 0',
        'wrote How are',
        'wrote you?',
        'spoke 1',
      ])
    })

    test('sounds the same however it was cut, and spans count through', async () => {
      const short = 'Good night. Sleep well.'
      const whole = await collect(tts.stream(piecesOf(short)))
      const letters = await collect(tts.stream(piecesOf(...short)))
      expect(joined(letters)).toEqual(joined(whole))
      expect([...new Set(whole.map(({ span }) => short.slice(span.start, span.end)))]).toEqual([
        'Good night.',
        'Sleep well.',
      ])
      expect(whole.filter(({ isLast }) => isLast)).toHaveLength(1)
      expect(whole.at(-1)).toMatchObject({ isLast: true, chunkIndex: 1 })
      expect(whole.at(-1)?.pcm).toHaveLength(0)
    })

    test('of one sentence is what the sentence is', async () => {
      const frames = await collect(tts.stream(words('Hello from my pocket.')))
      expect(joined(frames)).toEqual([...(await tts.generate('Hello from my pocket.'))])
    })

    test('left early lets go of the writer, even one that has stopped writing', async () => {
      using states = countStates()
      let closed = false
      async function* silentWriter(): AsyncGenerator<string, void> {
        try {
          yield 'Hello there. '
          await new Promise(() => {})
        } finally {
          closed = true
        }
      }
      const frames = tts.stream(silentWriter())
      let last: IteratorResult<AudioFrame, void> = await frames.next()
      let waiting = frames.next()
      for (;;) {
        const next = await Promise.race([waiting, sleep(500, 'stalled' as const)])
        if (next === 'stalled') break
        last = next
        waiting = frames.next()
      }
      expect(last).toMatchObject({ done: false, value: { chunkIndex: 0, isLast: false } })
      await frames.return?.()
      expect(await waiting).toEqual({ done: true, value: undefined })
      expect(states.alive()).toBe(0)
      // That writer waits for ever and cannot be closed; one that waits at a yield is.
      expect(closed).toBe(false)
      async function* patientWriter(): AsyncGenerator<string, void> {
        try {
          for (;;) yield 'Hello there. '
        } finally {
          closed = true
        }
      }
      for await (const _ of tts.stream(patientWriter())) break
      await sleep(0)
      expect(closed).toBe(true)
    })

    test('an abort gets through while the writer is silent', async () => {
      const signal = AbortSignal.timeout(30)
      const silent: AsyncIterable<string> = {
        [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
      }
      const error = await collect(tts.stream(silent, { signal })).catch((caught) => caught)
      expect(error).toBe(signal.reason)
    })

    test('a writer that aborts and fails at once is heard of once', async () => {
      const stop = new AbortController()
      async function* failing(): AsyncGenerator<string, void> {
        stop.abort(new Error('enough'))
        yield* []
        throw new Error('nobody is to hear of this')
      }
      // An unhandled rejection would end the process, and fails the run of these tests.
      await expect(collect(tts.stream(failing(), { signal: stop.signal }))).rejects.toThrow('enough')
    })

    test("the writer's failure is the stream's; what was said before is said", async () => {
      const failure = new Error('out of words')
      async function* failing(): AsyncGenerator<string, void> {
        yield 'Yes. '
        throw failure
      }
      let frames = 0
      const listening = (async () => {
        for await (const _ of tts.stream(failing())) frames++
      })()
      await expect(listening).rejects.toBe(failure)
      expect(frames).toBeGreaterThan(0)
    })

    test('nothing, only spaces, or no text is refused; spaces at the end are not', async () => {
      await refusal(collect(tts.stream(piecesOf())), 'empty-text')
      await refusal(collect(tts.stream(piecesOf(' ', '\n'))), 'empty-text')
      await refusal(collect(tts.stream(piecesOf(3 as never))), 'invalid-option', 'type number')
      const frames = await collect(tts.stream(piecesOf('Yes.', '  ', '\n')))
      expect(joined(frames)).toEqual([...(await tts.generate('Yes.'))])
    })
  })
})
