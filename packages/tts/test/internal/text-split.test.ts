import { SentencePieceUnigram } from '@pocket/sentencepiece'
import { readFixture, readJson } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PocketTtsError } from '../../src/errors.ts'
import { framesAfterEosFromGuess, maxFramesForTokens } from '../../src/text/frame-limits.ts'
import { prepareText } from '../../src/text/prepare-text.ts'
import { splitIntoBestSentences } from '../../src/text/split-sentences.ts'
import type { TextFlags } from '../../src/text/text-flags.ts'

interface GoldenChunk {
  text: string
  ids: number[]
  max_gen_len: number
  frames_after_eos_guess?: number
  frames_after_eos?: number
  error?: string
}

interface Run {
  max_tokens: number
  pad_with_spaces_for_short_inputs: boolean
  remove_semicolons: boolean
  chunks?: GoldenChunk[]
  error?: string
}

interface Goldens {
  cases: { name: string; text: string; runs: Run[] }[]
  runs: number
  max_gen_len: Record<string, number>
}

const { cases, runs, max_gen_len: maxFramesByTokens } = readJson<Goldens>('text/split.json')
const tokenizer = SentencePieceUnigram.fromBytes(readFixture('tokenizer/sp4000.model'))

const expectCode = (code: string, action: () => unknown): void => {
  expect(action).toThrow(PocketTtsError)
  expect(action).toThrow(expect.objectContaining({ code }))
}

/** Everything that generation derives from a chunk, in the golden data's own words. */
const describeChunk = (text: string, flags: TextFlags): GoldenChunk => {
  const ids = tokenizer.encode(text)
  const limits = { text, ids, max_gen_len: maxFramesForTokens(ids.length) }
  if (text === '') {
    expectCode('empty-text', () => prepareText(text, flags))
    return { ...limits, error: 'ValueError: Text prompt cannot be empty' }
  }
  const guess = prepareText(text, flags).framesAfterEosGuess
  return { ...limits, frames_after_eos_guess: guess, frames_after_eos: framesAfterEosFromGuess(guess) }
}

describe('the reference profile, against its golden data', () => {
  it('holds every run', () => {
    expect(cases.reduce((count, { runs }) => count + runs.length, 0)).toBe(runs)
  })

  it.each(cases)('$name', ({ text, runs }) => {
    for (const run of runs) {
      const flags: TextFlags = {
        padWithSpacesForShortInputs: run.pad_with_spaces_for_short_inputs,
        removeSemicolons: run.remove_semicolons,
      }
      const split = () => splitIntoBestSentences(text, tokenizer, run.max_tokens, flags)
      if (run.chunks === undefined) {
        expect(run.error).toBe('ValueError: Text prompt cannot be empty')
        expectCode('empty-text', split)
        continue
      }
      const { chunks } = run
      expect(split().map((chunk) => describeChunk(chunk, flags))).toMatchObject(chunks.map(withoutNotes))
      expect(split()).toHaveLength(chunks.length)
    }
  })

  it('allows as many frames as the golden data for every token count', () => {
    for (const [tokens, frames] of Object.entries(maxFramesByTokens)) {
      expect(maxFramesForTokens(Number(tokens))).toBe(frames)
    }
  })
})

/** `over_max` repeats what the ids say. */
const withoutNotes = ({ text, ids, max_gen_len, error, ...rest }: GoldenChunk): GoldenChunk => {
  const { frames_after_eos_guess, frames_after_eos } = rest
  if (error !== undefined) return { text, ids, max_gen_len, error }
  if (frames_after_eos_guess === undefined || frames_after_eos === undefined) throw new Error('incomplete')
  return { text, ids, max_gen_len, frames_after_eos_guess, frames_after_eos }
}

describe('options', () => {
  it('cuts at 50 tokens unless told otherwise', () => {
    const text = 'A short sentence with a few more words. '.repeat(20)
    expect(splitIntoBestSentences(text, tokenizer)).toEqual(splitIntoBestSentences(text, tokenizer, 50))
    expect(splitIntoBestSentences(text, tokenizer).length).toBeGreaterThan(1)
  })

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses maxTokens of %s', (maxTokens) => {
    expectCode('invalid-option', () => splitIntoBestSentences('hello', tokenizer, maxTokens))
  })

  it('refuses the profile that is not there yet', () => {
    const flags: TextFlags = { textProfile: 'natural' }
    expectCode('invalid-option', () => splitIntoBestSentences('hello', tokenizer, 50, flags))
  })
})

describe('laws', () => {
  const unit = fc.constantFrom(...'aZ9 .!?,;:-\n"é字😀▁', '\ud800', '\u0000', '\u05d0', '...', 'word ')
  const text = fc.string({ unit, maxLength: 200 })
  const isEmpty = (value: string): boolean => value.trim() === ''

  it('only adds and drops white space: the letters of the chunks are those of the prepared text', () => {
    const letters = (value: string): string => value.replace(/[\s▁]/g, '')
    fc.assert(
      fc.property(text, fc.nat(60), (input, maxTokens) => {
        fc.pre(!isEmpty(input))
        const chunks = splitIntoBestSentences(input, tokenizer, maxTokens)
        expect(letters(chunks.join(''))).toBe(letters(prepareText(input).text))
      }),
    )
  })

  it('gives one chunk where everything fits', () => {
    fc.assert(
      fc.property(text, (input) => {
        fc.pre(!isEmpty(input))
        expect(splitIntoBestSentences(input, tokenizer, 100_000)).toHaveLength(1)
      }),
    )
  })
})

describe('long and odd texts', () => {
  const kilobytes = (count: number, piece: string): string =>
    piece.repeat(Math.ceil((count * 1024) / new TextEncoder().encode(piece).length))

  it.each([
    ['a megabyte of sentences', kilobytes(1024, 'All work and no play makes Jack a dull boy, they say. ')],
    ['a megabyte without a break', kilobytes(1024, 'x')],
    ['a megabyte of clauses', kilobytes(1024, 'one clause, ')],
    ['full stops', kilobytes(64, '. ')],
    ['words far apart', kilobytes(64, `a${' '.repeat(5000)}`)],
    ['emoji', kilobytes(64, '👩‍🚀😀')],
    ['lone surrogates', kilobytes(64, '\ud83d')],
    ['NUL', kilobytes(64, '\u0000')],
    ['right-to-left text', kilobytes(64, '\u200fשלום عالم؟ ')],
    ['line ends', kilobytes(64, '\r\n.')],
  ])('%s', (_, input) => {
    const chunks = splitIntoBestSentences(input, tokenizer)
    expect(chunks.length).toBeGreaterThan(0)
    expect(chunks.join('')).not.toMatch(/[\n\r]|\p{Surrogate}/u)
  })
})
