/** Marks that end a sentence; the full-width ones need no space after them. */
const endMarks = /[.!?…؟。！？]*/uy
const fullWidthEndMark = /[。！？]/u
const closingMarks = /["'”’»)\]」』]*/uy

/** White space within a line. */
const blanks = /[^\S\n]*/uy

/** The next place where a sentence could end. */
const candidate = /[.!?…؟。！？\n]/u

/**
 * Words before a full stop that end no sentence: initials and letters with stops (`J.`, `U.S.`, `e.g.`), titles, and
 * a number that begins a line (`1.` before an item of a list). Missing one costs a pause, a false one only a wait.
 */
const abbreviation =
  /(?:(?:^|[^\p{L}\p{N}.])(?:(?:\p{L}\.)*\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|No|Nr|Fig|Vol|Mme|Mlle|Sra|Srta|Dott|Sig|bzw|ca)|(?:^|\n)\s*\d+)\.$/u

/** More than the longest abbreviation; looking further back would make long texts slow. */
const abbreviationReach = 24

const speakable = /[\p{L}\p{N}]/u

/** Where a candidate leads: whether it ends the sentence, and how far that reaches. */
interface Verdict {
  /** Undefined while the character after it is not there. */
  readonly isEnd: boolean | undefined
  readonly position: number
}

/**
 * Takes text as it comes and gives it back in sentences. A sentence is over when the character after its end is
 * there, so that `3.14` or `?!"` may come in two pieces; where a text was cut makes no difference. Takes time in
 * proportion to the text, however small the pieces, but for thousands of spaces or closing marks in a row.
 */
export class SentenceBuffer {
  /** The beginning of the sentence, where it does not end. */
  #seen: string[] = []
  #seenEnd = ''
  #seenSpeakable = false
  /** What comes after it. */
  #text = ''

  push(piece: string): void {
    this.#text += piece
  }

  /** The first sentence that is over, white space and all; undefined while there is none. */
  take(): string | undefined {
    for (;;) {
      const at = this.#text.search(candidate)
      if (at < 0) {
        this.#see(lastWhole(this.#text))
        return undefined
      }
      const verdict = this.#text[at] === '\n' ? this.#paragraphEnd(at) : this.#sentenceEnd(at)
      this.#see(verdict.position)
      if (verdict.isEnd === undefined) return undefined
      if (verdict.isEnd && this.#seenSpeakable) return this.#takeSeen()
      // An end of nothing: the empty line goes to what comes after it.
      if (verdict.position === at) this.#see(1)
    }
  }

  /** All that is left. */
  rest(): string {
    this.#see(this.#text.length)
    return this.#takeSeen()
  }

  #see(length: number): void {
    if (length === 0) return
    const part = this.#text.slice(0, length)
    this.#text = this.#text.slice(length)
    this.#seen.push(part)
    this.#seenEnd = (this.#seenEnd + part).slice(-abbreviationReach)
    this.#seenSpeakable ||= speakable.test(part)
  }

  #takeSeen(): string {
    const sentence = this.#seen.join('')
    this.#seen = []
    this.#seenEnd = ''
    this.#seenSpeakable = false
    return sentence
  }

  #sentenceEnd(at: number): Verdict {
    const marksEnd = this.#endOf(endMarks, at)
    const position = this.#endOf(closingMarks, marksEnd)
    // The last mark is as good as all of them, and a long row of them is not gone through again.
    if (position === this.#text.length) return { isEnd: undefined, position: marksEnd - 1 }
    const isFullWidth = this.#is(fullWidthEndMark, marksEnd - 1)
    const before = (this.#seenEnd + this.#text.slice(0, marksEnd)).slice(-abbreviationReach)
    const isEnd = (isFullWidth || this.#is(/\s/u, position)) && !abbreviation.test(before)
    return { isEnd, position }
  }

  /** An empty line ends a sentence without any mark, such as a title. */
  #paragraphEnd(at: number): Verdict {
    const position = this.#endOf(blanks, at + 1)
    if (position === this.#text.length) return { isEnd: undefined, position: at }
    return this.#is(/\n/u, position) ? { isEnd: true, position: at } : { isEnd: false, position }
  }

  /** The end of a run, a sticky pattern that may match nothing. */
  #endOf(run: RegExp, position: number): number {
    run.lastIndex = position
    run.test(this.#text)
    return run.lastIndex
  }

  #is(pattern: RegExp, position: number): boolean {
    const character = this.#text[position]
    return character !== undefined && pattern.test(character)
  }
}

/** The length of a text without the first half of a character whose second is yet to come. */
const lastWhole = (text: string): number => (/[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length)
