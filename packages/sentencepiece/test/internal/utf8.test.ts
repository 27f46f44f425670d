import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLossyUtf8, utf8Bytes, utf8Length } from '../../src/utf8.ts'

const encoder = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const isWellFormed = (bytes: number[]): boolean => {
  try {
    strict.decode(Uint8Array.from(bytes))
    return true
  } catch {
    return false
  }
}

/** The rule as it is stated: the longest well-formed character here, or one U+FFFD for one byte. */
const decodeByRule = (bytes: number[]): string => {
  if (bytes.length === 0) return ''
  for (const length of [1, 2, 3, 4]) {
    const head = bytes.slice(0, length)
    if (head.length === length && isWellFormed(head)) {
      return strict.decode(Uint8Array.from(head)) + decodeByRule(bytes.slice(length))
    }
  }
  return `\ufffd${decodeByRule(bytes.slice(1))}`
}

const codePoint = fc.oneof(
  fc.constantFrom(0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x10ffff),
  fc.integer({ min: 0, max: 0x10ffff }).filter((code) => code < 0xd800 || code > 0xdfff),
)

/** Lead and continuation bytes at the edges of what is allowed, where the mistakes are. */
const edgeByte = fc.constantFrom(
  0x00,
  0x41,
  0x7f,
  0x80,
  0x8f,
  0x90,
  0x9f,
  0xa0,
  0xbf,
  0xc0,
  0xc1,
  0xc2,
  0xdf,
  0xe0,
  0xe1,
  0xed,
  0xef,
  0xf0,
  0xf4,
  0xf5,
  0xf7,
  0xf8,
  0xff,
)

describe('UTF-8', () => {
  it('encodes as TextEncoder does', () => {
    fc.assert(
      fc.property(codePoint, (code) => {
        const expected = [...encoder.encode(String.fromCodePoint(code))]
        expect(utf8Bytes(code)).toEqual(expected)
        expect(utf8Length(String.fromCodePoint(code))).toBe(expected.length)
        expect(decodeLossyUtf8(expected)).toBe(String.fromCodePoint(code))
      }),
      { numRuns: 2000 },
    )
  })

  it('replaces each byte that starts no well-formed character', () => {
    fc.assert(
      fc.property(fc.array(edgeByte, { maxLength: 12 }), (bytes) => {
        expect(decodeLossyUtf8(bytes)).toBe(decodeByRule(bytes))
      }),
      { numRuns: 1000 },
    )
  })
})
