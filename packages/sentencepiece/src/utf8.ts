const encoder = new TextEncoder()

/** Bytes that `text` takes in UTF-8. */
export const utf8Length = (text: string): number => encoder.encode(text).length

/** The 1 to 4 UTF-8 bytes of a code point that is no surrogate. */
export const utf8Bytes = (codePoint: number): number[] => {
  if (codePoint < 0x80) return [codePoint]
  const last = 0x80 | (codePoint & 0x3f)
  if (codePoint < 0x800) return [0xc0 | (codePoint >> 6), last]
  const third = 0x80 | ((codePoint >> 6) & 0x3f)
  if (codePoint < 0x10000) return [0xe0 | (codePoint >> 12), third, last]
  return [0xf0 | (codePoint >> 18), 0x80 | ((codePoint >> 12) & 0x3f), third, last]
}

/**
 * Text of bytes that need not be UTF-8: **every** byte that starts no well-formed character becomes one
 * U+FFFD, as in the reference library. `TextDecoder` differs: it replaces a truncated character as a whole.
 */
export const decodeLossyUtf8 = (bytes: readonly number[]): string => {
  let text = ''
  for (let offset = 0; offset < bytes.length; ) {
    const length = sequenceLength(bytes[offset]!)
    const codePoint = length === 0 ? undefined : wellFormedCodePoint(bytes, offset, length)
    text += codePoint === undefined ? '\ufffd' : String.fromCodePoint(codePoint)
    offset += codePoint === undefined ? 1 : length
  }
  return text
}

/** Bytes of the character that `lead` starts; 0 where it starts none. */
const sequenceLength = (lead: number): number => {
  if (lead < 0x80) return 1
  if (lead < 0xc0) return 0
  if (lead < 0xe0) return 2
  if (lead < 0xf0) return 3
  return lead < 0xf8 ? 4 : 0
}

/** The smallest code point that may be written with so many bytes: anything below is overlong. */
const smallestOfLength = [0, 0, 0x80, 0x800, 0x10000]

const wellFormedCodePoint = (
  bytes: readonly number[],
  offset: number,
  length: number,
): number | undefined => {
  let codePoint = length === 1 ? bytes[offset]! : bytes[offset]! & (0x7f >> length)
  for (let i = 1; i < length; i++) {
    const byte = bytes[offset + i]
    if (byte === undefined || (byte & 0xc0) !== 0x80) return undefined
    codePoint = (codePoint << 6) | (byte & 0x3f)
  }
  const isSurrogate = codePoint >= 0xd800 && codePoint < 0xe000
  const isOverlong = codePoint < smallestOfLength[length]!
  return isSurrogate || isOverlong || codePoint > 0x10ffff ? undefined : codePoint
}
