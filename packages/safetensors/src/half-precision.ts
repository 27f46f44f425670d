import { SafeTensorsError } from './error.ts'
import { aligned, allocate } from './memory.ts'

/**
 * Widens BF16 to float32, exactly: infinities, signed zeros, subnormals and the payloads of NaNs included.
 * Takes bit patterns (Uint16Array) or the little-endian bytes of a tensor (Uint8Array, at any offset).
 * Throws `size-mismatch` for an odd number of bytes.
 */
export const bf16ToF32 = (source: Uint8Array | Uint16Array): Float32Array<ArrayBuffer> => {
  const patterns = halfWords(source)
  const buffer = allocate(patterns.length * 4)
  const bits = new Uint32Array(buffer)
  // BF16 is the upper half of a float32.
  for (let i = 0; i < patterns.length; i++) bits[i] = patterns[i]! << 16
  return new Float32Array(buffer)
}

/**
 * Rounds float32 to BF16 bit patterns, to nearest, ties to even. Values past the largest BF16 become
 * infinities; a NaN stays a NaN of the same sign, quiet, with the upper bits of its payload.
 */
export const f32ToBf16 = (source: Float32Array): Uint16Array<ArrayBuffer> => {
  const bits = new Uint32Array(source.buffer, source.byteOffset, source.length)
  const patterns = new Uint16Array(allocate(bits.length * 2))
  for (let i = 0; i < bits.length; i++) {
    const value = bits[i]!
    const notANumber = (value & 0x7fffffff) > 0x7f800000
    // Half of the last kept place, less one unless that place is odd: a tie is carried up only from odd.
    patterns[i] = notANumber ? (value >>> 16) | 0x40 : (value + 0x7fff + ((value >>> 16) & 1)) >>> 16
  }
  return patterns
}

/**
 * Widens IEEE 754 half precision to float32, exactly: infinities, signed zeros, subnormals and the payloads
 * of NaNs included. Takes bit patterns (Uint16Array) or the little-endian bytes of a tensor (Uint8Array).
 * Throws `size-mismatch` for an odd number of bytes.
 */
export const f16ToF32 = (source: Uint8Array | Uint16Array): Float32Array<ArrayBuffer> => {
  const patterns = halfWords(source)
  const buffer = allocate(patterns.length * 4)
  const bits = new Uint32Array(buffer)
  const table = f16Table()
  for (let i = 0; i < patterns.length; i++) bits[i] = table[patterns[i]!]!
  return new Float32Array(buffer)
}

let f16BitsOfPatterns: Uint32Array | undefined

/** The bits of all 65536 values, made once: two to three times as fast as the branches below per value. */
const f16Table = (): Uint32Array => {
  f16BitsOfPatterns ??= Uint32Array.from({ length: 65536 }, (_, pattern) => f16Bits(pattern))
  return f16BitsOfPatterns
}

/** Sign, 5 bits of exponent (bias 15), 10 of mantissa, to sign, 8 (bias 127) and 23. */
const f16Bits = (pattern: number): number => {
  const sign = (pattern & 0x8000) << 16
  const magnitude = pattern & 0x7fff
  if (magnitude >= 0x7c00) return sign | 0x7f800000 | ((magnitude & 0x3ff) << 13)
  if (magnitude >= 0x0400) return sign | ((magnitude << 13) + ((127 - 15) << 23))
  if (magnitude === 0) return sign
  // A subnormal, magnitude × 2^-24, is a normal float32: its leading one moves to the hidden place.
  const shift = Math.clz32(magnitude) - 21
  return sign | ((127 - 14 - shift) << 23) | (((magnitude << shift) & 0x3ff) << 13)
}

const halfWords = (source: Uint8Array | Uint16Array): Uint16Array => {
  // Not instanceof, which fails for arrays of another frame or realm.
  if (source.BYTES_PER_ELEMENT === 2) return source as Uint16Array
  if (source.length % 2 !== 0) {
    throw new SafeTensorsError('size-mismatch', `${source.length} bytes: expected whole 16-bit values`)
  }
  const bytes = aligned(source as Uint8Array, 2)
  return new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
}
