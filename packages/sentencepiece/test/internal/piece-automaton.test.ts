import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PieceAutomaton } from '../../src/piece-automaton.ts'

/** Every `[end, length, id]` that the automaton reports, in its order. */
const matchesOf = (patterns: string[], text: string): number[][] => {
  const automaton = new PieceAutomaton(patterns.map((pattern, id) => ({ text: pattern, id })))
  const matches: number[][] = []
  let state = automaton.start
  for (let end = 1; end <= text.length; end++) {
    state = automaton.step(state, text.charCodeAt(end - 1))
    for (let match = automaton.firstMatch(state); match !== 0; match = automaton.nextMatch(match)) {
      matches.push([end, automaton.lengthOf(match), automaton.idOf(match)])
    }
  }
  return matches
}

const naiveMatchesOf = (patterns: string[], text: string): number[][] => {
  const matches: number[][] = []
  for (let end = 1; end <= text.length; end++) {
    for (let start = 0; start < end; start++) {
      const id = patterns.indexOf(text.slice(start, end))
      if (id !== -1) matches.push([end, end - start, id])
    }
  }
  return matches
}

// Few letters, so that patterns overlap, nest and fail late.
const text = (maxLength: number) =>
  fc
    .array(fc.constantFrom('a', 'a', 'b', 'c', '\u2581', '\uffff'), { maxLength })
    .map((units) => units.join(''))

const patternSet = fc.uniqueArray(
  text(6).filter((pattern) => pattern !== ''),
  { maxLength: 20 },
)

describe('PieceAutomaton', () => {
  it('finds every occurrence of every pattern, the longest first at each end', () => {
    fc.assert(
      fc.property(patternSet, text(40), (patterns, input) => {
        expect(matchesOf(patterns, input)).toEqual(naiveMatchesOf(patterns, input))
      }),
      { numRuns: 2000 },
    )
  })

  it('finds nothing without patterns', () => {
    expect(matchesOf([], 'abc')).toEqual([])
  })

  it('reads a long run once, however long the patterns are', () => {
    const automaton = new PieceAutomaton([
      { text: `${'a'.repeat(100_000)}b`, id: 0 },
      { text: 'a', id: 1 },
    ])
    let state = automaton.start
    let matches = 0
    for (let i = 0; i < 1_000_000; i++) {
      state = automaton.step(state, 0x61)
      for (let match = automaton.firstMatch(state); match !== 0; match = automaton.nextMatch(match)) matches++
    }
    expect(matches).toBe(1_000_000)
    state = automaton.step(state, 0x62)
    expect(automaton.lengthOf(automaton.firstMatch(state))).toBe(100_001)
  })
})
