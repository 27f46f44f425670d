import { quote, SafeTensorsError } from './error.ts'
import { mostMembers } from './limits.ts'

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'literal'

/** A number that may matter has at most 16 digits (2^53); anything far longer is an attack. */
const longestNumber = 64

const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/**
 * A strict JSON reader that is pulled: the caller says what should come next. `JSON.parse` will not do for a
 * safetensors header, since it hides duplicate keys, takes `1.0` for `1`, and builds everything before anything
 * can be refused.
 */
export class JsonScanner {
  readonly #text: string
  #position = 0

  constructor(text: string) {
    this.#text = text
  }

  /** What the next value is, as far as its first character tells. */
  kind(): JsonKind {
    const character = this.#peek()
    if (character === '{') return 'object'
    if (character === '[') return 'array'
    if (character === '"') return 'string'
    if (character === '-' || isDigit(character)) return 'number'
    if (character === 't' || character === 'f' || character === 'n') return 'literal'
    throw this.#unexpected('a value')
  }

  /** Calls `member` at each value, which it must consume. `what` names the object in messages. */
  object(what: string, member: (key: string) => void): void {
    const seen = new Set<string>()
    this.#take('{')
    if (this.#accept('}')) return
    do {
      const key = this.string()
      if (seen.has(key)) throw new SafeTensorsError('duplicate-key', `${what} holds ${quote(key)} twice`)
      if (seen.size === mostMembers) {
        throw new SafeTensorsError('header-too-large', `${what} has more than ${mostMembers} members`)
      }
      seen.add(key)
      this.#take(':')
      member(key)
    } while (this.#accept(','))
    this.#take('}')
  }

  /** Calls `item` at each value, which it must consume. */
  array(item: () => void): void {
    this.#take('[')
    if (this.#accept(']')) return
    do item()
    while (this.#accept(','))
    this.#take(']')
  }

  string(): string {
    this.#take('"')
    const begin = this.#position
    let escaped = false
    for (;;) {
      const unit = this.#text.charCodeAt(this.#position)
      if (unit === quotationMark) break
      // NaN, at the end of the text, fails this too. Control characters must be escaped (RFC 8259 § 7).
      if (!(unit >= space)) throw this.#unexpected('the rest of a string')
      if (unit === backslash) {
        escaped = true
        this.#position++
      }
      this.#position++
    }
    this.#position++
    const raw = this.#text.slice(begin, this.#position - 1)
    return escaped ? this.#unescape(raw) : raw
  }

  /** A number as it is spelt: only the caller knows which spellings it takes. */
  number(): string {
    this.#peek()
    const begin = this.#position
    while (isNumberPart(this.#text.charAt(this.#position))) this.#position++
    const length = this.#position - begin
    const text = this.#text.slice(begin, begin + Math.min(length, longestNumber + 1))
    if (length <= longestNumber && jsonNumber.test(text)) return text
    this.#position = begin
    throw this.#unexpected('a number')
  }

  /** Nothing but white space may follow: the format pads the header with spaces. */
  end(): void {
    if (this.#peek() !== '') throw this.#unexpected('nothing more')
  }

  #unescape(raw: string): string {
    let text: string
    try {
      text = JSON.parse(`"${raw}"`) as string
    } catch {
      throw invalid(`the string ${quote(raw)} has an escape that JSON does not know`)
    }
    // Such a name cannot be written in UTF-8, and the reference library refuses it.
    if (loneSurrogate.test(text)) throw invalid(`the string ${quote(raw)} has a lone surrogate`)
    return text
  }

  /** The next character that is not white space, or '' at the end. */
  #peek(): string {
    while (isWhiteSpace(this.#text.charCodeAt(this.#position))) this.#position++
    return this.#text.charAt(this.#position)
  }

  #accept(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#position++
    return true
  }

  #take(character: string): void {
    if (!this.#accept(character)) throw this.#unexpected(`'${character}'`)
  }

  #unexpected(expected: string): SafeTensorsError {
    const rest = this.#text.slice(this.#position, this.#position + 20)
    const found = rest === '' ? 'its end' : quote(rest)
    return invalid(`expected ${expected} at character ${this.#position}, found ${found}`)
  }
}

const space = 0x20
const quotationMark = 0x22
const backslash = 0x5c
const loneSurrogate = /\p{Surrogate}/u

const isDigit = (character: string): boolean => character >= '0' && character <= '9'

const isNumberPart = (character: string): boolean =>
  isDigit(character) || (character !== '' && '+-.eE'.includes(character))

/** RFC 8259 § 2: space, tab, line feed, carriage return; nothing else that Unicode calls white space. */
const isWhiteSpace = (unit: number): boolean =>
  unit === space || unit === 0x09 || unit === 0x0a || unit === 0x0d

const invalid = (problem: string): SafeTensorsError =>
  new SafeTensorsError('invalid-header', `the header is not valid JSON: ${problem}`)
