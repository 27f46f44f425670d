import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readModelFile } from '../../src/model-file.ts'
import { UnigramModel } from '../../src/unigram-model.ts'
import { Vocabulary } from '../../src/vocabulary.ts'
import { type TestPiece, unknownPiece, writeModel } from '../model-writer.ts'

const float = Math.fround
const FLT_MAX = float(3.4028235e38)
const FLT_MIN = float(1.1754944e-38)

interface Segment {
  text: string
  id: number
}

/**
 * The library's rules word for word: a lattice over code points walked from the left, and for each start
 * every piece that fits, by growing end. Looks up a substring per start and end, so it shares no idea with
 * the automaton.
 */
const segmentByRule = (pieces: TestPiece[], text: string): Segment[] => {
  const normal = pieces.filter(({ kind = 1 }) => kind === 1).map(({ score = 0 }) => float(score))
  const lowest = normal.reduce((a, b) => Math.min(a, b), FLT_MAX)
  const highest = normal.reduce((a, b) => Math.max(a, b), FLT_MIN)
  const characters = [...text]
  const best = characters.map(() => ({ score: 0, start: -1, id: -1 }))
  const offer = (start: number, end: number, id: number, score: number) => {
    const node = best[end - 1]!
    if (node.start !== -1 && !(score > node.score)) return
    best[end - 1] = { score: float(score), start, id }
  }
  for (let start = 0; start < characters.length; start++) {
    const soFar = start === 0 ? 0 : best[start - 1]!.score
    let coversOne = false
    for (let end = start + 1; end <= characters.length; end++) {
      const candidate = characters.slice(start, end).join('')
      const id = pieces.findIndex((piece) => piece.text === candidate && [1, 4].includes(piece.kind ?? 1))
      if (id === -1) continue
      const { kind = 1, score = 0 } = pieces[id]!
      const bytes = new TextEncoder().encode(candidate).length
      offer(start, end, id, (kind === 4 ? float(bytes * highest) - 0.1 : float(score)) + soFar)
      coversOne ||= end === start + 1
    }
    if (!coversOne) offer(start, start + 1, 0, float(float(lowest - 10) + soFar))
  }
  const segments: Segment[] = []
  for (let end = characters.length; end > 0; end = best[end - 1]!.start) {
    const { start, id } = best[end - 1]!
    segments.unshift({ text: characters.slice(start, end).join(''), id })
  }
  return segments
}

const segment = (pieces: TestPiece[], text: string): Segment[] => {
  const model = new UnigramModel(new Vocabulary(readModelFile(writeModel({ pieces }))))
  const { ids, ends } = model.segment(text)
  return ids.map((id, i) => ({ id, text: text.slice(ends[i - 1] ?? 0, ends[i]) }))
}

const text = (maxLength: number) =>
  fc
    .array(fc.constantFrom('a', 'a', 'b', '.', 'é', '😀', '\u2581'), { maxLength })
    .map((units) => units.join(''))

// Small whole numbers and tenths tie often: the former exactly, the latter by rounding.
const score = fc.oneof(
  fc.integer({ min: -4, max: -1 }),
  fc.integer({ min: -50, max: -1 }).map((tenths) => tenths / 10),
  fc.float({ min: -12, max: 2, noNaN: true }),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
)

const pieces = fc
  .uniqueArray(
    fc.record({
      text: text(5).filter((piece) => piece !== ''),
      score,
      kind: fc.constantFrom(1, 1, 1, 1, 4, 5),
    }),
    { minLength: 1, maxLength: 25, selector: (piece) => piece.text },
  )
  .filter((list) => list.some(({ kind }) => kind !== 5))
  .map((list) => [unknownPiece, ...list])

describe('UnigramModel', () => {
  it('cuts as the stated rules do, ties and rounding included', () => {
    fc.assert(
      fc.property(pieces, text(40), (list, input) => {
        expect(segment(list, input)).toEqual(segmentByRule(list, input))
      }),
      { numRuns: 3000 },
    )
  })

  it('rounds as the library does, where the sums of many pieces all but tie', () => {
    const tenths = fc.integer({ min: -60, max: 20 }).map((score) => score / 10)
    const kinds = fc.tuple(fc.constant(1), fc.constantFrom(1, 4), fc.constantFrom(1, 4))
    fc.assert(
      fc.property(tenths, tenths, tenths, kinds, fc.nat(60), (one, two, three, [a, b, c], length) => {
        const list = [
          unknownPiece,
          { text: '.', score: one, kind: a },
          { text: '..', score: two, kind: b },
          { text: '...', score: three, kind: c },
        ]
        const input = '.'.repeat(length)
        expect(segment(list, input)).toEqual(segmentByRule(list, input))
      }),
      { numRuns: 1000 },
    )
  })

  it('covers the text without a gap', () => {
    fc.assert(
      fc.property(pieces, text(40), (list, input) => {
        const segments = segment(list, input)
        expect(segments.map((piece) => piece.text).join('')).toBe(input)
        for (const { id, text: part } of segments) {
          if (id !== 0) expect(part).toBe(list[id]!.text)
          else expect([...part]).toHaveLength(1)
        }
      }),
    )
  })

  it('prefers a user-defined piece to any normal ones, and skips unused ones', () => {
    const list = [
      unknownPiece,
      { text: 'ab', score: -0.5 },
      { text: 'a', score: -0.2 },
      { text: 'b', score: -0.2 },
      { text: 'abb', score: -100, kind: 4 },
      { text: 'aa', score: 100, kind: 5 },
    ]
    expect(segment(list, 'abbaa').map(({ id }) => id)).toEqual([4, 2, 2])
  })

  it('gives an unused character to <unk>', () => {
    const list = [unknownPiece, { text: 'a', score: -1 }, { text: 'b', score: -1, kind: 5 }]
    expect(segment(list, 'ab').map(({ id }) => id)).toEqual([1, 0])
  })
})
