import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Normalizer } from '../../src/normalizer.ts'

interface Flags {
  addDummyPrefix: boolean
  removeExtraWhitespaces: boolean
  escapeWhitespaces: boolean
}

const normalizer = (flags: Flags, userDefined: string[] = []) =>
  new Normalizer({ name: 'identity', hasCharsmap: false, ...flags }, userDefined)

/** The rules one after the other, on a list of units. */
const normalizeByRule = (flags: Flags, userDefined: string[], input: string): string => {
  const longestFirst = [...userDefined].sort((a, b) => b.length - a.length)
  const units: string[] = []
  for (let rest = input; rest !== ''; rest = rest.slice(units.at(-1)!.length)) {
    units.push(longestFirst.find((symbol) => rest.startsWith(symbol)) ?? [...rest][0]!)
  }
  const space = flags.escapeWhitespaces ? '\u2581' : ' '
  const prefix = flags.addDummyPrefix ? ' ' : ''
  if (!flags.removeExtraWhitespaces) {
    return input === '' ? '' : (prefix + input).replaceAll(' ', space)
  }
  while (units[0] === ' ') units.shift()
  if (units.length === 0) return ''
  let text = prefix
  let afterSpace = true
  for (const unit of units) {
    const kept: string = afterSpace ? unit.replace(/^ +/, '') : unit
    if (kept !== '') afterSpace = kept.endsWith(' ')
    text += kept
  }
  text = text.replaceAll(' ', space)
  while (text.endsWith(space)) text = text.slice(0, -1)
  return text
}

const flags = fc.record({
  addDummyPrefix: fc.boolean(),
  removeExtraWhitespaces: fc.boolean(),
  escapeWhitespaces: fc.boolean(),
})

const text = (maxLength: number) =>
  fc
    .array(fc.constantFrom(' ', ' ', ' ', 'a', 'b', '😀', '\t', '\u2581', '\u00a0'), { maxLength })
    .map((units) => units.join(''))

const symbols = fc.uniqueArray(
  text(4).filter((symbol) => symbol !== ''),
  { maxLength: 4 },
)

describe('Normalizer', () => {
  it('follows the rules for every combination of flags and user-defined pieces', () => {
    fc.assert(
      fc.property(flags, symbols, text(30), (settings, userDefined, input) => {
        const { text: actual } = normalizer(settings, userDefined).normalize(input)
        expect(actual).toBe(normalizeByRule(settings, userDefined, input))
      }),
      { numRuns: 3000 },
    )
  })

  it('knows where each character came from', () => {
    fc.assert(
      fc.property(flags, symbols, text(30), (settings, userDefined, input) => {
        const { text: output, runs } = normalizer(settings, userDefined).normalize(input)
        for (const [index, { start, inputStart }] of runs.entries()) {
          // What was trimmed from the end of the text was trimmed from the last runs.
          const end = Math.min(runs[index + 1]?.start ?? output.length, output.length)
          const kept = output.slice(start, end)
          const source = input.slice(inputStart, inputStart + kept.length)
          expect(settings.escapeWhitespaces ? source.replaceAll(' ', '\u2581') : source).toBe(kept)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
