import { isSpace } from '../text/python-string.ts'
import type { TextSpan } from './utterance.ts'

/**
 * Where chunks lie in the text they were made from. Preparing a text changes white space, case and single marks and may
 * add a full stop, but never the order of what is not white space: counting that finds the place again.
 */
export class TextSpans {
  readonly #text: string
  readonly #offset: number
  #position = 0

  /** @param offset is added to every position */
  constructor(text: string, offset = 0) {
    this.#text = text
    this.#offset = offset
  }

  /** The span of the next chunk, without the white space around it. */
  next(chunk: string): TextSpan {
    const visible = countVisible(chunk)
    const start = this.#skip(0)
    const end = visible === 0 ? start : this.#skip(visible)
    return { start: this.#offset + start, end: this.#offset + end }
  }

  /** Moves past `visible` code points; with 0 only up to the first one. Stops at the end of the text. */
  #skip(visible: number): number {
    let passed = 0
    while (this.#position < this.#text.length) {
      const character = String.fromCodePoint(this.#text.codePointAt(this.#position) ?? 0)
      const isVisible = !isBlank(character)
      if (isVisible && passed === visible) break
      this.#position += character.length
      if (isVisible && ++passed === visible) break
    }
    return this.#position
  }
}

/** A typed `▁` is white space to the tokenizer and comes back as a space. */
const isBlank = (character: string): boolean => character === '▁' || isSpace(character.charCodeAt(0))

const countVisible = (text: string): number => {
  let count = 0
  for (const character of text) if (!isBlank(character)) count++
  return count
}
