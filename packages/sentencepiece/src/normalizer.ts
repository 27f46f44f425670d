import type { NormalizerSettings } from './model-file.ts'
import { PieceAutomaton } from './piece-automaton.ts'

/** U+2581, what a space looks like inside pieces. */
export const spaceSymbol = '\u2581'

/** A stretch of normalised text that stands in the input unchanged but for its spaces. */
export interface KeptRun {
  /** Code unit of the normalised text at which the run starts. */
  readonly start: number
  /** Code unit of the input that it came from. */
  readonly inputStart: number
}

export interface NormalizedText {
  readonly text: string
  /** In order; up to the first run reaches the added prefix, and the last run goes on to the end. */
  readonly runs: readonly KeptRun[]
}

/**
 * The identity normaliser: it changes nothing but white space, by which it means U+0020 alone (tabs, line
 * ends and no-break spaces are ordinary characters).
 */
export class Normalizer {
  readonly #removesExtraSpaces: boolean
  readonly #prefix: string
  readonly #space: string
  /** Finds user-defined pieces, where they can make a difference. */
  readonly #protected: PieceAutomaton | undefined

  constructor(settings: NormalizerSettings, userDefined: readonly string[]) {
    this.#removesExtraSpaces = settings.removeExtraWhitespaces
    this.#space = settings.escapeWhitespaces ? spaceSymbol : ' '
    this.#prefix = settings.addDummyPrefix ? this.#space : ''
    // They keep the spaces inside them, so they matter only where spaces are removed and some have any.
    if (this.#removesExtraSpaces && userDefined.some((text) => text.includes(' '))) {
      this.#protected = new PieceAutomaton(userDefined.map((text, id) => ({ text, id })))
    }
  }

  /** `input` must be well formed. */
  normalize(input: string): NormalizedText {
    if (this.#removesExtraSpaces) return this.#collapse(input)
    if (input === '') return { text: '', runs: [] }
    const text = this.#prefix + this.#escape(input)
    return { text, runs: [{ start: this.#prefix.length, inputStart: 0 }] }
  }

  #escape(text: string): string {
    return this.#space === ' ' ? text : text.replaceAll(' ', this.#space)
  }

  /** Drops leading and trailing spaces, and every space after a unit that ends in one. */
  #collapse(input: string): NormalizedText {
    const unitLengths = this.#protectedLengths(input)
    const unitEnd = (position: number): number => position + (unitLengths?.[position] || 1)
    const isSpace = (position: number): boolean => input.charCodeAt(position) === 0x20

    let position = 0
    while (position < input.length && isSpace(position) && unitEnd(position) === position + 1) position++
    if (position === input.length) return { text: '', runs: [] }

    const runs: KeptRun[] = []
    let text = this.#prefix
    let runStart = position
    const closeRun = (end: number): void => {
      if (end === runStart) return
      runs.push({ start: text.length, inputStart: runStart })
      text += this.#escape(input.slice(runStart, end))
    }
    let afterSpace = true
    while (position < input.length) {
      const end = unitEnd(position)
      let kept = position
      while (afterSpace && kept < end && isSpace(kept)) kept++
      if (kept > position) {
        closeRun(position)
        runStart = kept
      }
      afterSpace = isSpace(end - 1)
      position = end
    }
    closeRun(input.length)
    return { text: this.#trimEnd(text), runs }
  }

  /** The library strips whatever looks like a trailing space by now, symbols that were typed included. */
  #trimEnd(text: string): string {
    let end = text.length
    while (end > 0 && text[end - 1] === this.#space) end--
    return text.slice(0, end)
  }

  /** Length of the longest user-defined piece that starts at each code unit, 0 for none. */
  #protectedLengths(text: string): Uint32Array | undefined {
    const automaton = this.#protected
    if (!automaton) return undefined
    const lengths = new Uint32Array(text.length)
    let state = automaton.start
    for (let end = 1; end <= text.length; end++) {
      state = automaton.step(state, text.charCodeAt(end - 1))
      for (let match = automaton.firstMatch(state); match !== 0; match = automaton.nextMatch(match)) {
        const length = automaton.lengthOf(match)
        // Ends only grow, so a later match from the same start is a longer one.
        lengths[end - length] = length
      }
    }
    return lengths
  }
}
