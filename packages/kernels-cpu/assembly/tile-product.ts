import { addPanel, finish } from './epilogue'
import { high, highHalves, low, panelWidth, Product } from './product'
import { madd } from './vector'

/**
 * Many rows of x, over the panels that single rows walk. The weights of one panel and one tap stay in the nearest cache
 * while all rows pass over them: 16 kB at most, in float32. Bfloat16 is widened into a block first.
 *
 * They come from far away, and sixteen rows are not enough to hide that: while tiles sum, they touch what comes next a
 * little at a time, and the hardware, which sees a stream, reads ahead of it.
 */
export function multiplyRows<T>(p: Product, firstUnit: i32, units: i32, block: usize): void {
  const unitsOfPanel = (p.rows + p.unitRows - 1) / p.unitRows
  for (let unit = firstUnit; unit < firstUnit + units; unit++) {
    const firstRow = (unit % unitsOfPanel) * p.unitRows
    multiplyPanel<T>(p, unit / unitsOfPanel, firstRow, min(firstRow + p.unitRows, p.rows), block)
  }
}

/** Rows whose sums still lie in the nearest cache when they are finished: whole tiles. */
export const finishedRows = 24

function multiplyPanel<T>(p: Product, panel: i32, firstRow: i32, endRow: i32, block: usize): void {
  const tapBytes = <usize>p.inputs * panelWidth * sizeof<T>()
  let at = p.weights + panel * p.taps * tapBytes
  for (let tap = 0; tap < p.taps; tap++, at += tapBytes) {
    const isLast = tap == p.taps - 1
    const next = isLast && isLastPanel(p, panel) ? at : at + tapBytes
    if (sizeof<T>() == 2) widen(at, tapBytes, block)
    const weights = sizeof<T>() == 2 ? block : at
    const step = isLast ? finishedRows : endRow - firstRow
    for (let row = firstRow; row < endRow; row += step) {
      const end = min(row + step, endRow)
      multiplyTap<T>(p, panel, weights, next, tap, row, end)
      if (isLast) finish(p, row, end - row, panel)
    }
  }
}

/** Nothing may be read behind it: memory may end there. */
@inline
export function isLastPanel(p: Product, panel: i32): bool {
  return (panel + 1) * panelWidth >= p.outputs
}

/** Bfloat16 to float32, in the order of a panel. */
function widen(weights: usize, bytes: usize, to: usize): void {
  const mask = highHalves()
  for (const end = weights + bytes; weights < end; weights += 16, to += 32) {
    const v = v128.load(weights)
    v128.store(to, low(v))
    v128.store(to, high(v, mask), 16)
  }
}

/**
 * Rows go in tiles of six where multiplication and addition are one instruction: 12 sums, two weights and a value of x
 * fill the 15 registers that V8 has for vectors on x64. The product by itself would be one too many, and tiles have four.
 */
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
  let tile = 0
  for (let row = firstRow; row < endRow; ) {
    const left = endRow - row
    const ahead = next + partOf<T>(p, tile++)
    if (ASC_FEATURE_RELAXED_SIMD && isForSix(left)) {
      multiplySixRows(p, panel, weights, ahead, tap, row, left)
      row += 6
    } else {
      multiplyFourRows(p, panel, weights, ahead, tap, row, left)
      row += 4
    }
  }
}

/** A tile touches 8 bytes for each input: two tiles all the weights of the next tap in bfloat16, four in float32. */
@inline
function partOf<T>(p: Product, tile: i32): usize {
  const parts = <i32>sizeof<T>()
  return <usize>((tile & (parts - 1)) * p.inputs) << 3
}

/** Two tiles of four cover seven or eight rows; otherwise a six that is not quite full costs less than a four more. */
@inline
function isForSix(rows: i32): bool {
  return rows > 4 && rows != 7 && rows != 8
}

/** Where fewer than four rows are left, the last one is computed again in their place, and not stored. */
function multiplyFourRows(p: Product, panel: i32, weights: usize, ahead: usize, tap: i32, row: i32, rows: i32): void {
  let w = weights
  let x0 = p.x + row * p.xStride + tap * p.tapStride
  let x1 = rows > 1 ? x0 + p.xStride : x0
  let x2 = rows > 2 ? x1 + p.xStride : x1
  let x3 = rows > 3 ? x2 + p.xStride : x2
  let a0 = f32x4.splat(0)
  let a1 = a0
  let a2 = a0
  let a3 = a0
  let b0 = a0
  let b1 = a0
  let b2 = a0
  let b3 = a0
  const end = x0 + (<usize>p.inputs << 2)
  for (; x0 < end; x0 += 4, x1 += 4, x2 += 4, x3 += 4, w += 32, ahead += 8) {
    // Of no use but to be there: a load may trap, so compilers keep it.
    load<u8>(ahead)
    const wa = v128.load(w)
    const wb = v128.load(w, 16)
    let s = v128.load32_splat(x0)
    a0 = madd(wa, s, a0)
    b0 = madd(wb, s, b0)
    s = v128.load32_splat(x1)
    a1 = madd(wa, s, a1)
    b1 = madd(wb, s, b1)
    s = v128.load32_splat(x2)
    a2 = madd(wa, s, a2)
    b2 = madd(wb, s, b2)
    s = v128.load32_splat(x3)
    a3 = madd(wa, s, a3)
    b3 = madd(wb, s, b3)
  }
  addPanel(p, tap, row, panel, a0, b0)
  if (rows > 1) addPanel(p, tap, row + 1, panel, a1, b1)
  if (rows > 2) addPanel(p, tap, row + 2, panel, a2, b2)
  if (rows > 3) addPanel(p, tap, row + 3, panel, a3, b3)
}

/** The same with six; there are five at least. */
function multiplySixRows(p: Product, panel: i32, weights: usize, ahead: usize, tap: i32, row: i32, rows: i32): void {
  let w = weights
  let x0 = p.x + row * p.xStride + tap * p.tapStride
  let x1 = x0 + p.xStride
  let x2 = x1 + p.xStride
  let x3 = x2 + p.xStride
  let x4 = x3 + p.xStride
  let x5 = rows > 5 ? x4 + p.xStride : x4
  let a0 = f32x4.splat(0)
  let a1 = a0
  let a2 = a0
  let a3 = a0
  let a4 = a0
  let a5 = a0
  let b0 = a0
  let b1 = a0
  let b2 = a0
  let b3 = a0
  let b4 = a0
  let b5 = a0
  const end = x0 + (<usize>p.inputs << 2)
  for (; x0 < end; x0 += 4, x1 += 4, x2 += 4, x3 += 4, x4 += 4, x5 += 4, w += 32, ahead += 8) {
    load<u8>(ahead)
    const wa = v128.load(w)
    const wb = v128.load(w, 16)
    let s = v128.load32_splat(x0)
    a0 = madd(wa, s, a0)
    b0 = madd(wb, s, b0)
    s = v128.load32_splat(x1)
    a1 = madd(wa, s, a1)
    b1 = madd(wb, s, b1)
    s = v128.load32_splat(x2)
    a2 = madd(wa, s, a2)
    b2 = madd(wb, s, b2)
    s = v128.load32_splat(x3)
    a3 = madd(wa, s, a3)
    b3 = madd(wb, s, b3)
    s = v128.load32_splat(x4)
    a4 = madd(wa, s, a4)
    b4 = madd(wb, s, b4)
    s = v128.load32_splat(x5)
    a5 = madd(wa, s, a5)
    b5 = madd(wb, s, b5)
  }
  addPanel(p, tap, row, panel, a0, b0)
  addPanel(p, tap, row + 1, panel, a1, b1)
  addPanel(p, tap, row + 2, panel, a2, b2)
  addPanel(p, tap, row + 3, panel, a3, b3)
  addPanel(p, tap, row + 4, panel, a4, b4)
  if (rows > 5) addPanel(p, tap, row + 5, panel, a5, b5)
}
