import { firstLanes, loadUpTo, madd, storeUpTo, sumOfLanes } from './vector'

/**
 * LayerNorm of each row: `out = (x − mean) / √(variance + eps)`, then `· weight + bias`, then `· (1 + gain) + shift`;
 * each where its address is not 0. Strides in bytes.
 */
@unmanaged
export class Norm {
  x: usize
  xStride: usize
  out: usize
  outStride: usize
  columns: i32
  eps: f32
  weight: usize
  bias: usize
  gain: usize
  gainStride: usize
  shift: usize
  shiftStride: usize
}

/** `rows` rows, from `firstRow`. */
export function normalize(n: Norm, firstRow: i32, rows: i32): void {
  for (let row = firstRow; row < firstRow + rows; row++) {
    const x = n.x + row * n.xStride
    const columns = n.columns
    const guess = mean(x, columns)
    // The rounding of the mean itself is seen in the deviations from it, whose sum should be 0, and taken out.
    const error = meanDeviation(x, columns, guess)
    const variance = meanSquare(x, columns, guess) - error * error
    scaleRow(n, row, guess, error, 1 / sqrt<f32>(max<f32>(variance, 0) + n.eps))
  }
}

function mean(x: usize, columns: i32): f32 {
  const end = x + (<usize>(columns & ~3) << 2)
  let sum = f32x4.splat(0)
  for (; x < end; x += 16) sum = f32x4.add(sum, v128.load(x))
  return sumOfLanes(f32x4.add(sum, loadUpTo(x, columns & 3))) / <f32>columns
}

function meanDeviation(x: usize, columns: i32, center: f32): f32 {
  const middle = f32x4.splat(center)
  const end = x + (<usize>(columns & ~3) << 2)
  let sum = f32x4.splat(0)
  for (; x < end; x += 16) sum = f32x4.add(sum, f32x4.sub(v128.load(x), middle))
  return sumOfLanes(f32x4.add(sum, lastDeviations(x, columns & 3, middle))) / <f32>columns
}

function meanSquare(x: usize, columns: i32, center: f32): f32 {
  const middle = f32x4.splat(center)
  const end = x + (<usize>(columns & ~3) << 2)
  let sum = f32x4.splat(0)
  for (; x < end; x += 16) {
    const d = f32x4.sub(v128.load(x), middle)
    sum = madd(d, d, sum)
  }
  const last = lastDeviations(x, columns & 3, middle)
  return sumOfLanes(madd(last, last, sum)) / <f32>columns
}

/** x − middle for the one to three values after the whole vectors; 0 in the other lanes. */
@inline
function lastDeviations(at: usize, left: i32, middle: v128): v128 {
  return v128.and(f32x4.sub(loadUpTo(at, left), middle), firstLanes(left))
}

function scaleRow(n: Norm, row: i32, guess: f32, error: f32, inverse: f32): void {
  const x = n.x + row * n.xStride
  const out = n.out + row * n.outStride
  const gain = n.gain + row * n.gainStride
  const shift = n.shift + row * n.shiftStride
  const one = f32x4.splat(1)
  for (let column = 0; column < n.columns; column += 4) {
    const at = <usize>column << 2
    const left = n.columns - column
    const d = f32x4.sub(f32x4.sub(loadUpTo(x + at, left), f32x4.splat(guess)), f32x4.splat(error))
    let y = f32x4.mul(d, f32x4.splat(inverse))
    if (n.weight != 0) y = f32x4.mul(y, loadUpTo(n.weight + at, left))
    if (n.bias != 0) y = f32x4.add(y, loadUpTo(n.bias + at, left))
    if (n.gain != 0) y = f32x4.mul(y, f32x4.add(loadUpTo(gain + at, left), one))
    if (n.shift != 0) y = f32x4.add(y, loadUpTo(shift + at, left))
    storeUpTo(out + at, y, left)
  }
}
