import { PieceKind } from './model-file.ts'
import { PieceAutomaton } from './piece-automaton.ts'
import { utf8Length } from './utf8.ts'
import type { Vocabulary } from './vocabulary.ts'

/** How far an unknown character scores below the worst piece (`kUnkPenalty` of the reference library). */
const unknownPenalty = 10

/** Largest and smallest positive normal float32: the library starts its minimum and maximum from them. */
const FLT_MAX = 3.4028234663852886e38
const FLT_MIN = 1.1754943508222875e-38

/** A cut of a text into pieces, in order: piece `ids[i]` ends before the code unit `ends[i]`. */
export interface Segmentation {
  readonly ids: readonly number[]
  readonly ends: readonly number[]
}

/** The best cut of a text under a unigram language model: Viterbi over the occurrences of its pieces. */
export class UnigramModel {
  readonly #automaton: PieceAutomaton
  /** Score that each id adds to a path, in double precision. */
  readonly #scores: Float64Array
  readonly #unknownId: number
  readonly #unknownScore: number

  constructor({ entries, unknownId }: Vocabulary) {
    const patterns = []
    let lowest = FLT_MAX
    let highest = FLT_MIN
    for (const [id, { text, score, kind }] of entries.entries()) {
      if (kind === PieceKind.normal || kind === PieceKind.userDefined) patterns.push({ text, id })
      if (kind !== PieceKind.normal) continue
      lowest = Math.min(lowest, score)
      highest = Math.max(highest, score)
    }
    this.#automaton = new PieceAutomaton(patterns)
    // A user-defined piece is nearly free whatever its stored score, so that it always wins.
    this.#scores = Float64Array.from(entries, ({ text, score, kind }) =>
      kind === PieceKind.userDefined ? Math.fround(utf8Length(text) * highest) - 0.1 : score,
    )
    this.#unknownId = unknownId
    this.#unknownScore = Math.fround(lowest - unknownPenalty)
  }

  /**
   * `text` must be well formed. A character that no piece covers alone may also be unknown.
   *
   * Ties decide ids, so precision and order are the library's: sums are made and compared in double and
   * rounded to float32 when stored (that of an unknown character before the comparison), the earliest
   * start is tried first, and only a strictly better path replaces another.
   */
  segment(text: string): Segmentation {
    const bestScore = new Float32Array(text.length + 1)
    const bestId = new Int32Array(text.length + 1)
    const bestStart = new Int32Array(text.length + 1).fill(-1)
    const automaton = this.#automaton
    let state = automaton.start
    for (let end = 1; end <= text.length; end++) {
      const unit = text.charCodeAt(end - 1)
      state = automaton.step(state, unit)
      // Every piece is well formed, so none ends between the halves of a surrogate pair.
      if (isHighSurrogate(unit)) continue
      const characterLength = isLowSurrogate(unit) ? 2 : 1
      let matchLength = 0
      // From the longest match to the shortest is from the earliest start to the latest.
      for (let match = automaton.firstMatch(state); match !== 0; match = automaton.nextMatch(match)) {
        matchLength = automaton.lengthOf(match)
        const start = end - matchLength
        const id = automaton.idOf(match)
        const score = this.#scores[id]! + bestScore[start]!
        if (bestStart[end] !== -1 && !(score > bestScore[end]!)) continue
        bestScore[end] = score
        bestId[end] = id
        bestStart[end] = start
      }
      if (matchLength === characterLength) continue
      const start = end - characterLength
      const score = Math.fround(this.#unknownScore + bestScore[start]!)
      if (bestStart[end] !== -1 && !(score > bestScore[end]!)) continue
      bestScore[end] = score
      bestId[end] = this.#unknownId
      bestStart[end] = start
    }
    return readBack(bestId, bestStart, text.length)
  }
}

const readBack = (bestId: Int32Array, bestStart: Int32Array, length: number): Segmentation => {
  const ids: number[] = []
  const ends: number[] = []
  for (let end = length; end > 0; end = bestStart[end]!) {
    ids.push(bestId[end]!)
    ends.push(end)
  }
  return { ids: ids.reverse(), ends: ends.reverse() }
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00
