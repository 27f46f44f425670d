import { addUpTo, finish } from './epilogue'
import { panelWidth, Product } from './product'

/**
 * Products over integers: weights of 8 or 16 bits times rows of 16 bits, with `i32x4.dot_i16x8_s`, which is exact and
 * the same on every machine. A sum over the inputs of one tap cannot leave 32 bits: weights are packed so that the sum
 * of their sizes, times the greatest that a value of a row may be, stays below 2³¹ (src/integers.ts). The sum then
 * becomes a float32 and is scaled as the tap's row of x is; what an output's weights are scaled by comes last.
 *
 * Panels are `[taps][inputs / 2][16][2]`: a vector of 16-bit values holds pairs of inputs for four outputs.
 */

/** The widened weights of four outputs and one pair of inputs. */
@inline
function weightsAt<T>(at: usize, offset: usize): v128 {
  return sizeof<T>() == 1 ? v128.load8x8_s(at + offset) : v128.load(at + offset)
}

@inline
function multiplyAdd(weights: v128, x: v128, sums: v128): v128 {
  return i32x4.add(sums, i32x4.dot_i16x8_s(weights, x))
}

/** One row, two streams of panels: as `multiplyRow` walks them. */
export function multiplyIntegerRow<T>(p: Product, firstPanel: i32, panels: i32): void {
  const half = panels >> 1
  for (let i = 0; i < half; i++) multiplyPair<T>(p, firstPanel + i, firstPanel + half + i)
  const last = firstPanel + panels - 1
  if (panels & 1) multiplyPair<T>(p, last, last)
}

function multiplyPair<T>(p: Product, first: i32, second: i32): void {
  const quarter: usize = 8 * sizeof<T>()
  const step: usize = 4 * quarter
  const panelBytes = <usize>(p.taps * p.inputs) * panelWidth * sizeof<T>()
  let a = p.weights + first * panelBytes
  let b = p.weights + second * panelBytes
  for (let tap = 0; tap < p.taps; tap++) {
    let a0 = i32x4.splat(0)
    let a1 = a0
    let a2 = a0
    let a3 = a0
    let b0 = a0
    let b1 = a0
    let b2 = a0
    let b3 = a0
    let x = p.x + tap * p.tapStride
    // Two pairs a turn.
    for (const end = x + (<usize>p.inputs << 1); x < end; x += 8, a += 2 * step, b += 2 * step) {
      let s = v128.load32_splat(x)
      a0 = multiplyAdd(weightsAt<T>(a, 0), s, a0)
      a1 = multiplyAdd(weightsAt<T>(a, quarter), s, a1)
      a2 = multiplyAdd(weightsAt<T>(a, 2 * quarter), s, a2)
      a3 = multiplyAdd(weightsAt<T>(a, 3 * quarter), s, a3)
      b0 = multiplyAdd(weightsAt<T>(b, 0), s, b0)
      b1 = multiplyAdd(weightsAt<T>(b, quarter), s, b1)
      b2 = multiplyAdd(weightsAt<T>(b, 2 * quarter), s, b2)
      b3 = multiplyAdd(weightsAt<T>(b, 3 * quarter), s, b3)
      s = v128.load32_splat(x, 4)
      a0 = multiplyAdd(weightsAt<T>(a, 4 * quarter), s, a0)
      a1 = multiplyAdd(weightsAt<T>(a, 5 * quarter), s, a1)
      a2 = multiplyAdd(weightsAt<T>(a, 6 * quarter), s, a2)
      a3 = multiplyAdd(weightsAt<T>(a, 7 * quarter), s, a3)
      b0 = multiplyAdd(weightsAt<T>(b, 4 * quarter), s, b0)
      b1 = multiplyAdd(weightsAt<T>(b, 5 * quarter), s, b1)
      b2 = multiplyAdd(weightsAt<T>(b, 6 * quarter), s, b2)
      b3 = multiplyAdd(weightsAt<T>(b, 7 * quarter), s, b3)
    }
    addPanel(p, tap, first * panelWidth, a0, a1, a2, a3)
    if (second != first) addPanel(p, tap, second * panelWidth, b0, b1, b2, b3)
  }
  finish(p, 0, 1, first * panelWidth, panelWidth)
  if (second != first) finish(p, 0, 1, second * panelWidth, panelWidth)
}

@inline
function addPanel(p: Product, tap: i32, column: i32, v0: v128, v1: v128, v2: v128, v3: v128): void {
  const scale = v128.load32_splat(p.xScales + tap * p.tapScaleStride)
  const out = p.out + (<usize>column << 2)
  const left = p.outputs - column
  addUpTo(out, tap, scaled(v0, scale), left)
  addUpTo(out + 16, tap, scaled(v1, scale), left - 4)
  addUpTo(out + 32, tap, scaled(v2, scale), left - 8)
  addUpTo(out + 48, tap, scaled(v3, scale), left - 12)
}

@inline
export function scaled(sums: v128, scale: v128): v128 {
  return f32x4.mul(f32x4.convert_i32x4_s(sums), scale)
}

/** Rows and columns of a tile, as in `multiplyRows`. The weights of eight columns and a tap stay in the nearest cache. */
const tileRows = 4
const tileColumns = 8

/** Many rows, straight from the panels: widening costs no more than loading. */
export function multiplyIntegerRows<T>(p: Product, firstUnit: i32, units: i32): void {
  const unitsOfPanel = (p.rows + p.unitRows - 1) / p.unitRows
  for (let unit = firstUnit; unit < firstUnit + units; unit++) {
    const firstRow = (unit % unitsOfPanel) * p.unitRows
    multiplyPanel<T>(p, unit / unitsOfPanel, firstRow, min(firstRow + p.unitRows, p.rows))
  }
}

function multiplyPanel<T>(p: Product, panel: i32, firstRow: i32, endRow: i32): void {
  const tapBytes = <usize>p.inputs * panelWidth * sizeof<T>()
  for (let half = 0; half < panelWidth; half += tileColumns) {
    const column = panel * panelWidth + half
    if (column >= p.outputs) break
    let weights = p.weights + panel * p.taps * tapBytes + 2 * half * sizeof<T>()
    for (let tap = 0; tap < p.taps; tap++, weights += tapBytes) {
      for (let row = firstRow; row < endRow; row += tileRows) {
        multiplyTile<T>(p, weights, tap, row, endRow, column)
      }
    }
    finish(p, firstRow, endRow - firstRow, column, tileColumns)
  }
}

/** Where fewer than four rows are left, the last one is computed again in their place, and not stored. */
function multiplyTile<T>(p: Product, weights: usize, tap: i32, row: i32, endRow: i32, column: i32): void {
  const step: usize = 2 * panelWidth * sizeof<T>()
  const quarter: usize = 8 * sizeof<T>()
  const rows = endRow - row
  let w = weights
  let x0 = p.x + row * p.xStride + tap * p.tapStride
  let x1 = rows > 1 ? x0 + p.xStride : x0
  let x2 = rows > 2 ? x1 + p.xStride : x1
  let x3 = rows > 3 ? x2 + p.xStride : x2
  let a0 = i32x4.splat(0)
  let a1 = a0
  let a2 = a0
  let a3 = a0
  let b0 = a0
  let b1 = a0
  let b2 = a0
  let b3 = a0
  for (const end = x0 + (<usize>p.inputs << 1); x0 < end; x0 += 8, x1 += 8, x2 += 8, x3 += 8, w += 2 * step) {
    let wa = weightsAt<T>(w, 0)
    let wb = weightsAt<T>(w, quarter)
    let s = v128.load32_splat(x0)
    a0 = multiplyAdd(wa, s, a0)
    b0 = multiplyAdd(wb, s, b0)
    s = v128.load32_splat(x1)
    a1 = multiplyAdd(wa, s, a1)
    b1 = multiplyAdd(wb, s, b1)
    s = v128.load32_splat(x2)
    a2 = multiplyAdd(wa, s, a2)
    b2 = multiplyAdd(wb, s, b2)
    s = v128.load32_splat(x3)
    a3 = multiplyAdd(wa, s, a3)
    b3 = multiplyAdd(wb, s, b3)
    wa = weightsAt<T>(w, step)
    wb = weightsAt<T>(w, step + quarter)
    s = v128.load32_splat(x0, 4)
    a0 = multiplyAdd(wa, s, a0)
    b0 = multiplyAdd(wb, s, b0)
    s = v128.load32_splat(x1, 4)
    a1 = multiplyAdd(wa, s, a1)
    b1 = multiplyAdd(wb, s, b1)
    s = v128.load32_splat(x2, 4)
    a2 = multiplyAdd(wa, s, a2)
    b2 = multiplyAdd(wb, s, b2)
    s = v128.load32_splat(x3, 4)
    a3 = multiplyAdd(wa, s, a3)
    b3 = multiplyAdd(wb, s, b3)
  }
  addRow(p, tap, row, column, a0, b0)
  if (rows > 1) addRow(p, tap, row + 1, column, a1, b1)
  if (rows > 2) addRow(p, tap, row + 2, column, a2, b2)
  if (rows > 3) addRow(p, tap, row + 3, column, a3, b3)
}

@inline
function addRow(p: Product, tap: i32, row: i32, column: i32, a: v128, b: v128): void {
  const scale = v128.load32_splat(p.xScales + row * p.xScaleStride + tap * p.tapScaleStride)
  const out = p.out + row * p.outStride + (<usize>column << 2)
  const left = p.outputs - column
  addUpTo(out, tap, scaled(a, scale), left)
  addUpTo(out + 16, tap, scaled(b, scale), left - 4)
}
