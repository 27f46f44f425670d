import { loadUpTo } from './vector'

/**
 * Rows of float32 as rows of 16-bit integers, each with a scale of its own: `x ≈ out · scale`, the greatest |x| of a
 * row becoming `limit`. `out` is `[rows, paddedColumns]`, zeros after the `columns` of a row. Strides in bytes.
 * The preparation of a product over integers.
 */
@unmanaged
export class Quantization {
  x: usize
  xStride: usize
  columns: i32
  /** A multiple of four: the products take two pairs at a time. */
  paddedColumns: i32
  limit: f32
  out: usize
  /** `[rows]`, float32 */
  scales: usize
}

/**
 * 2⁻¹¹¹. From here on both the scale of a row and its inverse are normal numbers; a row (or the weights of an output)
 * of smaller values counts as zeros. `leastMagnitude` of src/integers.ts.
 */
export const leastMagnitude: f32 = 3.851859888774472e-34

/** `rows` rows, from `firstRow`. */
export function quantize(q: Quantization, firstRow: i32, rows: i32): void {
  const outStride = <usize>q.paddedColumns << 1
  for (let row = firstRow; row < firstRow + rows; row++) {
    const scale = quantizeRow(
      q.x + row * q.xStride,
      q.columns,
      q.out + row * outStride,
      q.paddedColumns,
      q.limit,
    )
    f32.store(q.scales + (<usize>row << 2), scale)
  }
}

/**
 * One row; returns its scale. A value that is no number or infinite makes the scale one too, so that every output of
 * the row shows it.
 */
export function quantizeRow(x: usize, columns: i32, out: usize, paddedColumns: i32, limit: f32): f32 {
  const greatest = greatestMagnitude(x, columns)
  const isZero = greatest < leastMagnitude
  const inverse = f32x4.splat(isZero ? 0 : limit / greatest)
  const whole = columns & ~7
  let column = 0
  for (; column < whole; column += 8, x += 32, out += 16) {
    const low = rounded(v128.load(x), inverse)
    const high = rounded(v128.load(x, 16), inverse)
    v128.store(out, i16x8.narrow_i32x4_s(low, high))
  }
  for (; column < paddedColumns; column += 4, x += 16, out += 8) {
    const four = rounded(loadUpTo(x, columns - column), inverse)
    v128.store64_lane(out, i16x8.narrow_i32x4_s(four, four), 0)
  }
  return isZero ? 0 : greatest / limit
}

/** To the nearest, ties to even. */
@inline
function rounded(x: v128, inverse: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(x, inverse)))
}

/** The greatest |x| of a row, or NaN where there is one. */
function greatestMagnitude(x: usize, columns: i32): f32 {
  const end = x + (<usize>(columns & ~3) << 2)
  let greatest = f32x4.abs(loadUpTo(end, columns & 3))
  for (; x < end; x += 16) greatest = f32x4.max(greatest, f32x4.abs(v128.load(x)))
  const pairs = f32x4.max(greatest, v128.shuffle<i32>(greatest, greatest, 2, 3, 0, 1))
  return max<f32>(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1))
}
