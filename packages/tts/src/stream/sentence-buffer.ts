/** Marks that end a sentence; the second kind needs no space after it. */
const endMark = /[.!?…؟]/u
const fullWidthEndMark = /[。！？]/u
const closingMark = /["'”’»)\]」』]/u

/** The next place where a sentence could end. */
const candidate = /[.!?…؟。！？\n]/gu

/**
 * Words before a full stop that end no sentence: initials and letters with stops (`J.`, `U.S.`, `e.g.`), titles, and
 * numbers that stand alone (`1.` before an item of a list). Missing one costs a pause, a false one only a wait.
 */
const abbreviation =
  /(?:^|[^\p{L}\p{N}.])(?:(?:\p{L}\.)*\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|No|Nr|Fig|Vol|Mme|Mlle|Sra|Srta|Dott|Sig|bzw|ca)\.$/u

const speakable = /[\p{L}\p{N}]/u

/**
 * Takes text as it comes and gives it back in sentences. A sentence is over when the character after its end is
 * there, so that `3.14` or `?!"` may come in two pieces; where a text was cut makes no difference.
 */
export class SentenceBuffer {
  #text = ''
  /** Up to here there is no end of a sentence. */
  #scanned = 0

  push(piece: string): void {
    this.#text += piece
  }

  /** The first sentence that is over, white space and all; undefined while there is none. */
  take(): string | undefined {
    for (;;) {
      candidate.lastIndex = this.#scanned
      const at = candidate.exec(this.#text)?.index
      if (at === undefined) {
        this.#scanned = this.#text.length
        return undefined
      }
      const end = this.#text[at] === '\n' ? this.#paragraphEnd(at) : this.#sentenceEnd(at)
      if (end === 'unknown') {
        this.#scanned = at
        return undefined
      }
      if (end.isEnd && speakable.test(this.#text.slice(0, end.position))) return this.#cut(end.position)
      this.#scanned = end.position
    }
  }

  /** All that is left. */
  rest(): string {
    return this.#cut(this.#text.length)
  }

  #cut(end: number): string {
    const sentence = this.#text.slice(0, end)
    this.#text = this.#text.slice(end)
    this.#scanned = 0
    return sentence
  }

  #sentenceEnd(at: number): 'unknown' | { position: number; isEnd: boolean } {
    let position = at
    while (this.#is(endMark, position) || this.#is(fullWidthEndMark, position)) position++
    const fullWidth = this.#is(fullWidthEndMark, position - 1)
    const sentence = this.#text.slice(0, position)
    while (this.#is(closingMark, position)) position++
    if (position === this.#text.length) return 'unknown'
    const isEnd = fullWidth || /\s/u.test(this.#text[position] ?? '')
    return { position, isEnd: isEnd && !abbreviation.test(sentence) && !/^\s*\d+\.$/.test(sentence) }
  }

  /** An empty line ends a sentence without any mark, such as a title. */
  #paragraphEnd(at: number): 'unknown' | { position: number; isEnd: boolean } {
    let position = at + 1
    while (this.#is(/[^\S\n]/u, position)) position++
    if (position === this.#text.length) return 'unknown'
    return this.#text[position] === '\n' ? { position: at, isEnd: true } : { position, isEnd: false }
  }

  #is(pattern: RegExp, position: number): boolean {
    const character = this.#text[position]
    return character !== undefined && pattern.test(character)
  }
}
