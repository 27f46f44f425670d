import { loadUpTo } from './vector'

/**
 * Rows of float32 as rows of 16-bit integers, each with a scale of its own: `x ≈ out · scale`, the greatest |x| of a
 * row becoming `limit`. `out` is `[rows, paddedColumns]`, zeros after the `columns` of a row. Strides in bytes.
 * The preparation of a product over integers.
 *
 * As digits, four values are eight bytes: their high digits, then their low ones; see digit-product.ts.
 */
@unmanaged
export class Quantization {
  x: usize
  xStride: usize
  columns: i32
  /** A multiple of four: the products take two pairs at a time. */
  paddedColumns: i32
  limit: f32
  /** 1: digits, of a limit below 2¹³; 0: 16-bit integers. */
  asDigits: i32
  out: usize
  /** `[rows]`, float32 */
  scales: usize
}

/**
 * 2⁻¹¹¹. From here on both the scale of a row and its inverse are normal numbers; a row (or the weights of an output)
 * of smaller values counts as zeros. `leastMagnitude` of `@pocket/nn`.
 */
export const leastMagnitude: f32 = 3.851859888774472e-34

/** `rows` rows, from `firstRow`. */
export function quantize(q: Quantization, firstRow: i32, rows: i32): void {
  for (let row = firstRow; row < firstRow + rows; row++) quantizeInto(q, row, q.x + row * q.xStride)
}

/** The row at `x` becomes row `row` of the integers. */
export function quantizeInto(q: Quantization, row: i32, x: usize): void {
  const out = q.out + ((<usize>row * q.paddedColumns) << 1)
  f32.store(q.scales + (<usize>row << 2), quantizeRow(q, x, out))
}

/**
 * One row; returns its scale. A value that is no number or infinite makes the scale one too, so that every output of
 * the row shows it.
 */
function quantizeRow(q: Quantization, x: usize, out: usize): f32 {
  const columns = q.columns
  const limit = q.limit
  const asDigits = q.asDigits != 0
  const greatest = greatestMagnitude(x, columns)
  const isZero = greatest < leastMagnitude
  const inverse = f32x4.splat(isZero ? 0 : limit / greatest)
  const rounding = v128.load32_splat(rounder)
  const whole = columns & ~7
  let column = 0
  for (; column < whole; column += 8, x += 32, out += 16) {
    const low = rounded(v128.load(x), inverse, rounding)
    const high = rounded(v128.load(x, 16), inverse, rounding)
    const eight = i16x8.narrow_i32x4_s(low, high)
    v128.store(out, asDigits ? digitsOf(eight) : eight)
  }
  for (; column < q.paddedColumns; column += 4, x += 16, out += 8) {
    const four = rounded(loadUpTo(x, columns - column), inverse, rounding)
    const twice = i16x8.narrow_i32x4_s(four, four)
    v128.store64_lane(out, asDigits ? digitsOf(twice) : twice, 0)
  }
  return isZero ? 0 : greatest / limit
}

@inline
function digitsOf(values: v128): v128 {
  const high = i16x8.add(i16x8.shr_s(values, 7), i16x8.splat(64))
  const digits = i8x16.narrow_i16x8_s(high, v128.and(values, i16x8.splat(127)))
  return v128.shuffle<i32>(digits, digits, 0, 2, 1, 3)
}

/** 1.5 · 2²³: adding it rounds to an integer, ties to even, which the low bits of the sum then hold. */
const rounder = memory.data<f32>([12582912])

@inline
function rounded(x: v128, inverse: v128, rounding: v128): v128 {
  return i32x4.sub(f32x4.add(f32x4.mul(x, inverse), rounding), rounding)
}

const allButSign = memory.data<u32>([0x7fffffff])

/** The greatest |x| of a row, or NaN where there is one: as bits, sizes are in the order of integers, and NaN is last. */
function greatestMagnitude(x: usize, columns: i32): f32 {
  const mask = v128.load32_splat(allButSign)
  const end = x + (<usize>(columns & ~3) << 2)
  let greatest = v128.and(loadUpTo(end, columns & 3), mask)
  for (; x < end; x += 16) greatest = i32x4.max_s(greatest, v128.and(v128.load(x), mask))
  const pairs = i32x4.max_s(greatest, v128.shuffle<i32>(greatest, greatest, 2, 3, 0, 1))
  return reinterpret<f32>(max<i32>(i32x4.extract_lane(pairs, 0), i32x4.extract_lane(pairs, 1)))
}
