import { readJson } from '@tooling/fixtures'
import { describe, expect, test } from 'vitest'
import { TextSpans } from '../../src/generate/text-spans.ts'
import { isSpace } from '../../src/text/python-string.ts'

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
