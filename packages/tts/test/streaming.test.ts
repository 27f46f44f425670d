import { setTimeout as sleep } from 'node:timers/promises'
import { mini } from '@pocket/mini'
import { type AudioFrame, PocketTts } from '@pocket/tts'
import { readJson } from '@tooling/fixtures'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { TextSpans } from '../src/generate/text-spans.ts'
import { SentenceBuffer } from '../src/stream/sentence-buffer.ts'
import { isSpace } from '../src/text/python-string.ts'
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

describe('sentences are taken from text as it comes', () => {
  const sentences = (...pieces: string[]): string[] => {
    const buffer = new SentenceBuffer()
    const taken: string[] = []
    for (const piece of pieces) {
      buffer.push(piece)
      for (let text = buffer.take(); text !== undefined; text = buffer.take()) taken.push(text)
    }
    return [...taken, buffer.rest()].filter((text) => text.trim() !== '')
  }

  test.each([
    ['One. Two! Three? Four', ['One.', ' Two!', ' Three?', ' Four']],
    ['He said "stop." Then he left.', ['He said "stop."', ' Then he left.']],
    ['Pi is 3.14 and e is 2.718. Fine.', ['Pi is 3.14 and e is 2.718.', ' Fine.']],
    ['Dr. Smith and J. R. R. Tolkien met. Really.', ['Dr. Smith and J. R. R. Tolkien met.', ' Really.']],
    ['Visit the U.S. capital, e.g. by train. Now.', ['Visit the U.S. capital, e.g. by train.', ' Now.']],
    ['Version v1.0.0 is installed. Good.', ['Version v1.0.0 is installed.', ' Good.']],
    ['Wait... what?! Yes.', ['Wait...', ' what?!', ' Yes.']],
    ['A title\n\nA paragraph', ['A title', '\n\nA paragraph']],
    ['hard\nwrapped\nlines. Next', ['hard\nwrapped\nlines.', ' Next']],
    ['1. First item. 2. Second item.', ['1. First item.', ' 2. Second item.']],
    ['你好。再见。', ['你好。', '再见。']],
    ['... Hello. !!! Bye.', ['... Hello.', ' !!! Bye.']],
    ['', []],
    [' \n ', []],
  ])('%j', (text, expected) => {
    expect(sentences(text)).toEqual(expected)
  })

  test('as soon as the character after the end is there', () => {
    const buffer = new SentenceBuffer()
    buffer.push('Hello.')
    expect(buffer.take()).toBeUndefined()
    buffer.push('"')
    expect(buffer.take()).toBeUndefined()
    buffer.push(' ')
    expect(buffer.take()).toBe('Hello."')
  })

  test('in time that grows with the text, even where no sentence ever ends', () => {
    const buffer = new SentenceBuffer()
    let taken = 0
    for (let i = 0; i < 300_000; i++) {
      buffer.push(i % 3 === 0 ? '.' : '-')
      if (buffer.take() !== undefined) taken++
    }
    expect(taken).toBe(0)
    expect(buffer.rest()).toHaveLength(300_000)
  })

  const anyText = fc
    .array(
      fc.constantFrom(
        'a',
        'Dr',
        '.',
        '!',
        '?',
        ' ',
        '\n',
        '"',
        '。',
        '…',
        '3',
        '.5',
        'é',
        '😀',
        '𝒜',
        '1.',
        ')',
      ),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join(''))

  test('law: nothing is lost, and where the text was cut makes no difference', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(40)), (text, cuts) => {
        const whole = sentences(text)
        const ends = [
          0,
          ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b),
          text.length,
        ]
        const pieces = ends.slice(1).map((end, i) => text.slice(ends[i], end))
        expect(sentences(...pieces)).toEqual(whole)
        const buffer = new SentenceBuffer()
        buffer.push(text)
        let rebuilt = ''
        for (let taken = buffer.take(); taken !== undefined; taken = buffer.take()) rebuilt += taken
        expect(rebuilt + buffer.rest()).toBe(text)
      }),
    )
  })
})

describe('spans', () => {
  interface Split {
    cases: { text: string; runs: { max_tokens: number; chunks?: { text: string }[] }[] }[]
  }
  const isBlank = (text: string): boolean =>
    [...text].every((character) => character === '▁' || isSpace(character.charCodeAt(0)))

  test("law: over the reference's chunks, they are in order, apart, and hold all that is visible", () => {
    for (const { text, runs } of readJson<Split>('text/split.json').cases) {
      for (const { chunks = [] } of runs) {
        const spans = new TextSpans(text)
        let end = 0
        for (const { text: chunk } of chunks) {
          const span = spans.next(chunk)
          expect(span.start).toBeGreaterThanOrEqual(end)
          expect(span.end).toBeGreaterThanOrEqual(span.start)
          expect(isBlank(text.slice(end, span.start))).toBe(true)
          end = span.end
        }
        if (chunks.length > 0) expect(isBlank(text.slice(end))).toBe(true)
      }
    }
  })
})

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
