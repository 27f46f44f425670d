import { correctionPlace, digitPanelBytes, weightAfter } from './digit-product'
import { panelWidth } from './product'
import { leastMagnitude } from './quantize'

/**
 * Weights as integers, a scale for each output: one panel, `[taps][inputs / 2][8][2]` or as digit-product.ts has it,
 * from up to 8 rows that lie one after the other. A tap takes `tapColumns` values of a row, the last one what is left,
 * and zeros up to `inputs`.
 */
@unmanaged
export class IntegerPanel {
  rows: usize
  count: i32
  /** Values in a row. */
  columns: i32
  taps: i32
  tapColumns: i32
  /** A multiple of four, no less than `tapColumns`. */
  inputs: i32
  /** The greatest weight: 127 or 32767. */
  limit: f32
  /** The most that the sizes of the weights of one tap may add up to, rounding aside; see src/integers.ts. */
  sumLimit: f32
  /** 1: the rows are bfloat16, 0: float32. */
  fromBf16: i32
  /** 1: 8-bit weights, 0: 16-bit weights. */
  toBytes: i32
  /** 1: for rows of digits (8-bit weights only), 0: for rows of 16-bit integers. */
  forDigits: i32
  panel: usize
  /** `[8]`, float32 */
  scales: usize
}

export function packIntegers(p: IntegerPanel): void {
  const valueBytes: usize = p.toBytes != 0 ? 1 : 2
  const plainBytes = <usize>(p.taps * p.inputs) * panelWidth * valueBytes
  memory.fill(p.panel, 0, p.forDigits != 0 ? digitPanelBytes(p.inputs, p.taps) : plainBytes)
  memory.fill(p.scales, 0, panelWidth << 2)
  if (p.fromBf16 != 0) {
    if (p.toBytes != 0) packRows<u16, i8>(p)
    else packRows<u16, i16>(p)
  } else {
    if (p.toBytes != 0) packRows<u32, i8>(p)
    else packRows<u32, i16>(p)
  }
}

function packRows<From, To>(p: IntegerPanel): void {
  const rowBytes = <usize>p.columns * sizeof<From>()
  for (let output = 0; output < p.count; output++) {
    const row = p.rows + output * rowBytes
    const scale = scaleOf<From>(p, row)
    f32.store(p.scales + (<usize>output << 2), scale)
    // Also false for a scale that is no number: the weights stay zeros, and the scale shows in every result.
    if (scale > 0) packRow<From, To>(p, row, output, scale)
  }
}

/** Of the greatest weight, or of the largest sum over a tap: whichever asks for the coarser steps. */
function scaleOf<From>(p: IntegerPanel, row: usize): f32 {
  let greatest: f32 = 0
  let largestSum: f64 = 0
  let column = 0
  for (let tap = 0; tap < p.taps; tap++) {
    let sum: f64 = 0
    for (const end = min(p.columns, column + p.tapColumns); column < end; column++) {
      const size = abs<f32>(valueAt<From>(row, column))
      greatest = max<f32>(greatest, size)
      sum += <f64>size
    }
    largestSum = max<f64>(largestSum, sum)
  }
  if (greatest < leastMagnitude) return 0
  return max<f32>(greatest / p.limit, <f32>(largestSum / <f64>p.sumLimit))
}

function packRow<From, To>(p: IntegerPanel, row: usize, output: i32, scale: f32): void {
  const forDigits = p.forDigits != 0
  let column = 0
  for (let tap = 0; tap < p.taps; tap++) {
    const first = column
    const correction = p.panel + correctionPlace(p.inputs, p.taps, output, tap)
    const pairs = p.panel + (<usize>tap * p.inputs * panelWidth + 2 * output) * sizeof<To>()
    let sum = 0
    for (const end = min(p.columns, column + p.tapColumns); column < end; column++) {
      const input = column - first
      const value = <i32>nearest<f32>(valueAt<From>(row, column) / scale)
      store<To>(forDigits ? weightAfter(correction, input) : placeInPairs<To>(pairs, input), <To>value)
      sum += value
    }
    if (forDigits) store<i32>(correction, -(sum << 13))
  }
}

@inline
function placeInPairs<To>(first: usize, input: i32): usize {
  return first + ((input >> 1) * 2 * panelWidth + (input & 1)) * sizeof<To>()
}

@inline
function valueAt<From>(row: usize, column: i32): f32 {
  const bits = <u32>load<From>(row + <usize>column * sizeof<From>())
  return reinterpret<f32>(sizeof<From>() == 2 ? bits << 16 : bits)
}
