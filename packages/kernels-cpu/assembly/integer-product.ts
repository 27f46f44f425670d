import { addPanel, finish } from './epilogue'
import { panelWidth, Product } from './product'
import { finishedRows, isLastPanel } from './tile-product'

/**
 * Products over integers: weights of 8 or 16 bits times rows of 16 bits, with `i32x4.dot_i16x8_s`, which is exact and
 * the same on every machine. A sum over the inputs of one tap cannot leave 32 bits: weights are packed so that the sum
 * of their sizes, times the greatest that a value of a row may be, stays below 2³¹ (src/integers.ts). The sum then
 * becomes a float32 and is scaled as the tap's row of x is; what an output's weights are scaled by comes last.
 *
 * Panels are `[taps][inputs / 2][8][2]`: a vector of 16-bit values holds pairs of inputs for four outputs.
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

/** One row, four streams of panels: as `multiplyRow` walks them. */
export function multiplyIntegerRow<T>(p: Product, firstPanel: i32, panels: i32): void {
  const quarter = panels >> 2
  for (let i = 0; i < quarter; i++) multiplyStreams<T>(p, firstPanel + i, quarter, 4)
  const left = panels & 3
  if (left > 0) multiplyStreams<T>(p, firstPanel + panels - left, 1, left)
}

function multiplyStreams<T>(p: Product, first: i32, apart: i32, count: i32): void {
  const half: usize = 8 * sizeof<T>()
  const step: usize = 2 * half
  const panelBytes = <usize>(p.taps * p.inputs) * panelWidth * sizeof<T>()
  const streamBytes = apart * panelBytes
  let a = p.weights + first * panelBytes
  let b = count > 1 ? a + streamBytes : a
  let c = count > 2 ? b + streamBytes : b
  let d = count > 3 ? c + streamBytes : c
  for (let tap = 0; tap < p.taps; tap++) {
    let a0 = i32x4.splat(0)
    let a1 = a0
    let b0 = a0
    let b1 = a0
    let c0 = a0
    let c1 = a0
    let d0 = a0
    let d1 = a0
    let x = p.x + tap * p.tapStride
    const end = x + (<usize>p.inputs << 1)
    // Two pairs a turn.
    for (; x < end; x += 8, a += 2 * step, b += 2 * step, c += 2 * step, d += 2 * step) {
      let s = v128.load32_splat(x)
      a0 = multiplyAdd(weightsAt<T>(a, 0), s, a0)
      a1 = multiplyAdd(weightsAt<T>(a, half), s, a1)
      b0 = multiplyAdd(weightsAt<T>(b, 0), s, b0)
      b1 = multiplyAdd(weightsAt<T>(b, half), s, b1)
      c0 = multiplyAdd(weightsAt<T>(c, 0), s, c0)
      c1 = multiplyAdd(weightsAt<T>(c, half), s, c1)
      d0 = multiplyAdd(weightsAt<T>(d, 0), s, d0)
      d1 = multiplyAdd(weightsAt<T>(d, half), s, d1)
      s = v128.load32_splat(x, 4)
      a0 = multiplyAdd(weightsAt<T>(a, step), s, a0)
      a1 = multiplyAdd(weightsAt<T>(a, step + half), s, a1)
      b0 = multiplyAdd(weightsAt<T>(b, step), s, b0)
      b1 = multiplyAdd(weightsAt<T>(b, step + half), s, b1)
      c0 = multiplyAdd(weightsAt<T>(c, step), s, c0)
      c1 = multiplyAdd(weightsAt<T>(c, step + half), s, c1)
      d0 = multiplyAdd(weightsAt<T>(d, step), s, d0)
      d1 = multiplyAdd(weightsAt<T>(d, step + half), s, d1)
    }
    addScaled(p, tap, 0, first, a0, a1)
    if (count > 1) addScaled(p, tap, 0, first + apart, b0, b1)
    if (count > 2) addScaled(p, tap, 0, first + 2 * apart, c0, c1)
    if (count > 3) addScaled(p, tap, 0, first + 3 * apart, d0, d1)
  }
  for (let i = 0; i < count; i++) finish(p, 0, 1, first + i * apart)
}

/** Sums of integers of a tap, of a row and the outputs of a panel. */
@inline
export function addScaled(p: Product, tap: i32, row: i32, panel: i32, first: v128, second: v128): void {
  const scale = v128.load32_splat(p.xScales + row * p.xScaleStride + tap * p.tapScaleStride)
  addPanel(p, tap, row, panel, scaled(first, scale), scaled(second, scale))
}

@inline
export function scaled(sums: v128, scale: v128): v128 {
  return f32x4.mul(f32x4.convert_i32x4_s(sums), scale)
}

/** Rows of a tile, whose columns are a panel: its weights for a tap stay in the nearest cache. */
const tileRows = 4

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
  let weights = p.weights + panel * p.taps * tapBytes
  for (let tap = 0; tap < p.taps; tap++, weights += tapBytes) {
    const isLast = tap == p.taps - 1
    const next = isLast && isLastPanel(p, panel) ? weights : weights + tapBytes
    for (let row = firstRow; row < endRow; row += finishedRows) {
      const end = min(row + finishedRows, endRow)
      multiplyTap<T>(p, panel, weights, next, tap, row, end)
      if (isLast) finish(p, row, end - row, panel)
    }
  }
}

/** Every other tile touches the second half of the next tap's weights, the others the first: as in tile-product.ts. */
@inline
function multiplyTap<T>(
  p: Product,
  panel: i32,
  weights: usize,
  next: usize,
  tap: i32,
  firstRow: i32,
  endRow: i32,
): void {
  const half = <usize>(p.inputs * panelWidth * <i32>sizeof<T>()) >> 1
  let ahead = next
  for (let row = firstRow; row < endRow; row += tileRows) {
    multiplyTile<T>(p, panel, weights, ahead, tap, row, endRow - row)
    ahead = ahead == next ? next + half : next
  }
}

/** Where fewer than four rows are left, the last one is computed again in their place, and not stored. */
function multiplyTile<T>(
  p: Product,
  panel: i32,
  weights: usize,
  ahead: usize,
  tap: i32,
  row: i32,
  rows: i32,
): void {
  const half: usize = 8 * sizeof<T>()
  const step: usize = 2 * half
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
  const end = x0 + (<usize>p.inputs << 1)
  for (; x0 < end; x0 += 8, x1 += 8, x2 += 8, x3 += 8, w += 2 * step, ahead += step) {
    load<u8>(ahead)
    let wa = weightsAt<T>(w, 0)
    let wb = weightsAt<T>(w, half)
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
    wb = weightsAt<T>(w, step + half)
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
  addScaled(p, tap, row, panel, a0, b0)
  if (rows > 1) addScaled(p, tap, row + 1, panel, a1, b1)
  if (rows > 2) addScaled(p, tap, row + 2, panel, a2, b2)
  if (rows > 3) addScaled(p, tap, row + 3, panel, a3, b3)
}
