import { readJson } from '@tooling/fixtures'
import { describe, expect, it } from 'vitest'
import { numberWords } from '../src/number-words.ts'
import { editDistance, errorRate, wordErrors, wordsOf } from '../src/word-errors.ts'

describe('numberWords', () => {
  it.each([
    [0, 'zero'],
    [13, 'thirteen'],
    [25, 'twenty five'],
    [80, 'eighty'],
    [300, 'three hundred'],
    [512, 'five hundred twelve'],
    [1000, 'one thousand'],
    [1066, 'one thousand sixty six'],
    [1100, 'eleven hundred'],
    [1985, 'nineteen eighty five'],
    [2026, 'two thousand twenty six'],
    [12_345, 'twelve thousand three hundred forty five'],
  ])('%i is %s', (value, words) => {
    expect(numberWords(value)).toBe(words)
  })
})

it('reads words as a recogniser writes them', () => {
  expect(wordsOf("Well-known: it's 25 & “done”, OK?")).toEqual([
    ...['well', 'known', "it's", 'twenty', 'five', 'and', 'done', 'ok'],
  ])
  expect(wordsOf(' … ')).toEqual([])
})

it.each([
  ['', '', 0],
  ['a b c', '', 3],
  ['', 'a b', 2],
  ['where are we', 'rarely', 3],
  ['a b c d', 'a x c d e', 2],
  ['a b c', 'b c', 1],
])('between "%s" and "%s" there are %i edits', (reference, heard, edits) => {
  expect(editDistance(wordsOf(reference), wordsOf(heard))).toBe(edits)
})

interface Heard {
  hyp: string
  errors: number
}
interface Evaluation {
  wer: Record<string, Record<string, number>>
  sentences: (Record<'rms' | 'awb' | 'slt', Record<'teacher' | 'codec' | 'model', Heard>> & {
    text: string
  })[]
}

describe.each(['rms', 'awb', 'slt'] as const)('the recorded evaluation of %s', (voice) => {
  const { sentences, wer } = readJson<Evaluation>('eval.json')

  it.each(['teacher', 'codec', 'model'] as const)(
    '%s: the same errors, sentence by sentence, and rate',
    (source) => {
      const results = sentences.map(({ text, [voice]: heard }) => wordErrors(text, heard[source].hyp))
      expect(results.map(({ errors }) => errors)).toEqual(
        sentences.map((entry) => entry[voice][source].errors),
      )
      expect(errorRate(results) / 100).toBeCloseTo(wer[voice]![source]!, 4)
    },
  )
})
