import { PocketTtsError, prepareText, type TextFlags } from '@pocket/tts'
import { readJson } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

interface Run {
  pad_with_spaces_for_short_inputs: boolean
  remove_semicolons: boolean
  prepared?: string
  frames_after_eos_guess?: number
  error?: string
}

const { cases, runs } = readJson<{ cases: { name: string; text: string; runs: Run[] }[]; runs: number }>(
  'text/prepare.json',
)

const codeOf = (action: () => unknown): string | undefined => {
  try {
    action()
  } catch (error) {
    if (error instanceof PocketTtsError) return error.code
    throw error
  }
  return undefined
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(' ', '\n', '\r', 'a', '.', ';', '\ud800', '\u0000', '\x85', 'ﬁ', '😀', '▁'),
  }),
)

const isPythonSpace = (character: string): boolean =>
  character !== '\ufeff' && (character.trim() === '' || '\x1c\x1d\x1e\x1f\x85'.includes(character))

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
      if (run.error === undefined) {
        const expected = { text: run.prepared, framesAfterEosGuess: run.frames_after_eos_guess }
        expect(prepareText(text, flags)).toEqual(expected)
      } else {
        expect(run.error).toBe('ValueError: Text prompt cannot be empty')
        expect(codeOf(() => prepareText(text, flags))).toBe('empty-text')
      }
    }
  })
})

describe('flags', () => {
  it('leaves the end alone where the checkpoint asks for no punctuation', () => {
    expect(prepareText('नमस्ते दुनिया न', { appendTerminalPunctuation: false }).text).toBe('नमस्ते दुनिया न')
    expect(prepareText('hello', { appendTerminalPunctuation: true }).text).toBe('Hello.')
  })

  it('takes undefined flags for absent ones', () => {
    expect(prepareText('a; b', { removeSemicolons: undefined, textProfile: undefined }).text).toBe('A; b.')
  })

  it('refuses the profile that is not there yet, and unknown ones', () => {
    expect(() => prepareText('hello', { textProfile: 'natural' })).toThrow(/'natural' is not available yet/)
    expect(codeOf(() => prepareText('hello', { textProfile: 'natural' }))).toBe('invalid-option')
    expect(codeOf(() => prepareText('hello', { textProfile: 'other' as 'natural' }))).toBe('invalid-option')
  })

  it('refuses what is no string', () => {
    for (const text of [undefined, null, 5, {}]) {
      expect(codeOf(() => prepareText(text as unknown as string))).toBe('invalid-option')
    }
  })
})

describe('any text', () => {
  it('is refused as empty or gives a well-formed line', () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), fc.boolean(), (text, pad, removeSemicolons) => {
        const flags = { padWithSpacesForShortInputs: pad, removeSemicolons }
        if (codeOf(() => prepareText(text, flags)) === 'empty-text') {
          expect([...text].every(isPythonSpace)).toBe(true)
          return
        }
        const prepared = prepareText(text, flags)
        expect(prepared.text).not.toMatch(/[\n\r]|\p{Surrogate}/u)
        if (removeSemicolons) expect(prepared.text).not.toContain(';')
        expect([1, 3]).toContain(prepared.framesAfterEosGuess)
      }),
    )
  })

  it('is stable once prepared, but for runs of spaces', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(codeOf(() => prepareText(text)) === undefined)
        const once = prepareText(text)
        fc.pre(!once.text.includes('  '))
        expect(prepareText(once.text)).toEqual(once)
      }),
    )
  })

  it('keeps right-to-left marks, joiners and NUL where they are', () => {
    expect(prepareText('\u200fمرحبا\u200f بالعالم\u202c').text).toBe('\u200fمرحبا\u200f بالعالم\u202c')
    expect(prepareText('👩‍🚀 a').text).toBe('👩‍🚀 a.')
    expect(prepareText('a\u0000b').text).toBe('A\u0000b.')
  })
})
