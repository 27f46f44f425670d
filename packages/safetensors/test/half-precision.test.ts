import { bf16ToF32, f16ToF32, f32ToBf16 } from '@pocket/safetensors'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failureCode, sameBytes } from './make-file.ts'

const patterns = Uint16Array.from({ length: 65536 }, (_, i) => i)
const bitsOf = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer)

/** The value that a format's definition gives to a pattern: sign × 2^(exponent − bias) × significand. */
const definedValue = (pattern: number, exponentBits: number, mantissaBits: number): number => {
  const sign = pattern >>> 15 === 1 ? -1 : 1
  const exponent = (pattern >>> mantissaBits) % 2 ** exponentBits
  const mantissa = pattern % 2 ** mantissaBits
  const bias = 2 ** (exponentBits - 1) - 1
  if (exponent === 2 ** exponentBits - 1) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  if (exponent === 0) return sign * mantissa * 2 ** (1 - bias - mantissaBits)
  return sign * (1 + mantissa / 2 ** mantissaBits) * 2 ** (exponent - bias)
}

describe.each([
  ['BF16', bf16ToF32, 8, 7],
  ['F16', f16ToF32, 5, 10],
] as const)('%s to float32', (_, convert, exponentBits, mantissaBits) => {
  test('all 65536 patterns have the value of their definition, to the sign of zero', () => {
    const values = convert(patterns)
    const wrong = patterns.filter(
      (pattern) => !Object.is(values[pattern], definedValue(pattern, exponentBits, mantissaBits)),
    )
    expect([...wrong]).toEqual([])
  })

  test('the payload and the sign of every NaN are kept', () => {
    const bits = bitsOf(convert(patterns))
    const nans = patterns.filter((pattern) => Number.isNaN(definedValue(pattern, exponentBits, mantissaBits)))
    expect(nans.length).toBe(2 * (2 ** mantissaBits - 1))
    for (const pattern of nans) {
      const payload = pattern % 2 ** mantissaBits
      const sign = pattern >>> 15
      expect(bits[pattern]).toBe(sign * 2 ** 31 + 0x7f800000 + payload * 2 ** (23 - mantissaBits))
    }
  })

  test('bytes at any offset give what patterns give', () => {
    const shifted = new Uint8Array(1 + patterns.byteLength)
    shifted.set(new Uint8Array(patterns.buffer), 1)
    expect(sameBytes(convert(shifted.subarray(1)), convert(patterns))).toBe(true)
  })

  test('nothing gives nothing; half a value is refused', async () => {
    expect(convert(new Uint8Array(0))).toEqual(new Float32Array(0))
    expect(await failureCode(() => convert(new Uint8Array(3)))).toBe('size-mismatch')
  })
})

describe('float32 to BF16', () => {
  test('every BF16 value is its own nearest; a NaN stays a quiet NaN of its sign', () => {
    const back = f32ToBf16(bf16ToF32(patterns))
    const wrong = patterns.filter((pattern) => {
      const expected = Number.isNaN(definedValue(pattern, 8, 7)) ? pattern | 0x40 : pattern
      return back[pattern] !== expected
    })
    expect([...wrong]).toEqual([])
  })

  test('ties go to even, and past the largest value lies infinity', () => {
    const round = (bits: number) => f32ToBf16(new Float32Array(Uint32Array.of(bits).buffer))[0]
    expect(round(0x3f808000)).toBe(0x3f80)
    expect(round(0x3f818000)).toBe(0x3f82)
    expect(round(0x3f808001)).toBe(0x3f81)
    expect(round(0x3f807fff)).toBe(0x3f80)
    expect(round(0x7f7fffff)).toBe(0x7f80)
    expect(round(0xff7fffff)).toBe(0xff80)
    expect(round(0x00000001)).toBe(0x0000)
    expect(round(0x7f800001)).toBe(0x7fc0)
  })

  test('no BF16 value is nearer', () => {
    fc.assert(
      fc.property(
        fc.float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(-3e38), max: Math.fround(3e38) }),
        (value) => {
          const [pattern = 0] = f32ToBf16(Float32Array.of(value))
          const error = Math.abs(definedValue(pattern, 8, 7) - value)
          for (const neighbour of [pattern - 1, pattern + 1]) {
            const other = Math.abs(definedValue(neighbour & 0xffff, 8, 7) - value)
            expect(Number.isNaN(other) || error <= other).toBe(true)
          }
        },
      ),
    )
  })
})
