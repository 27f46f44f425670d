import { addPanel, finish } from './epilogue'
import { high, highHalves, low, panelWidth, Product } from './product'
import { madd } from './vector'

/**
 * Many rows of x, over the panels that single rows walk. The weights of one panel and one tap stay in the nearest cache
 * while all rows pass over them: 16 kB at most, in float32. The first tile widens bfloat16 on the way, and leaves it in a
 * block for the others.
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
  let weights = p.weights + panel * p.taps * tapBytes
  for (let tap = 0; tap < p.taps; tap++, weights += tapBytes) {
    const isLast = tap == p.taps - 1
    const next = isLast && isLastPanel(p, panel) ? weights : weights + tapBytes
    let row = firstRow
    if (sizeof<T>() == 2) {
      row += multiplyTile<u16>(p, panel, weights, block, tap, firstRow, endRow)
      if (isLast) finish(p, firstRow, min(row, endRow) - firstRow, panel)
    }
    const widened = sizeof<T>() == 2 ? block : weights
    const step = isLast ? finishedRows : endRow - firstRow
    for (; row < endRow; row += step) {
      const end = min(row + step, endRow)
      multiplyTap<T>(p, panel, widened, next, tap, row, end)
      if (isLast) finish(p, row, end - row, panel)
    }
  }
}

/** Nothing may be read behind it: memory may end there. */
@inline
export function isLastPanel(p: Product, panel: i32): bool {
  return (panel + 1) * panelWidth >= p.outputs
}

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
    row += multiplyTile<f32>(p, panel, weights, next + partOf<T>(p, tile++), tap, row, endRow)
  }
}

/** A tile touches 8 bytes for each input: two tiles all the weights of the next tap in bfloat16, four in float32. */
@inline
function partOf<T>(p: Product, tile: i32): usize {
  const parts = <i32>sizeof<T>()
  return <usize>((tile & (parts - 1)) * p.inputs) << 3
}

/**
 * A tile at `row`; returns its rows. These are six where multiplication and addition are one instruction: 12 sums, two
 * weights and a value of x fill the 15 registers that V8 has for vectors on x64. The product by itself would be one too
 * many, and tiles have four rows.
 *
 * The weights are float32, and `other` is what to touch, or bfloat16, and `other` is where they go in float32.
 */
@inline
function multiplyTile<T>(p: Product, panel: i32, weights: usize, other: usize, tap: i32, row: i32, endRow: i32): i32 {
  const left = endRow - row
  if (ASC_FEATURE_RELAXED_SIMD && isForSix(left)) {
    multiplySixRows<T>(p, panel, weights, other, tap, row, left)
    return 6
  }
  multiplyFourRows<T>(p, panel, weights, other, tap, row, left)
  return 4
}

/** Two tiles of four cover seven or eight rows; otherwise a six that is not quite full costs less than a four more. */
@inline
function isForSix(rows: i32): bool {
  return rows > 4 && rows != 7 && rows != 8
}

@inline
function firstWeights<T>(at: usize): v128 {
  return sizeof<T>() == 2 ? low(v128.load(at)) : v128.load(at)
}

/** The mask is loaded each time, into the register that the weights will have: there is none to keep it in. */
@inline
function lastWeights<T>(at: usize): v128 {
  return sizeof<T>() == 2 ? high(v128.load(at), highHalves()) : v128.load(at, 16)
}

@inline
function passOn<T>(other: usize, first: v128, last: v128): void {
  if (sizeof<T>() == 2) {
    v128.store(other, first)
    v128.store(other, last, 16)
  } else {
    // Of no use but to be there: a load may trap, so compilers keep it.
    load<u8>(other)
  }
}

/** Where fewer than four rows are left, the last one is computed again in their place, and not stored. */
function multiplyFourRows<T>(p: Product, panel: i32, weights: usize, other: usize, tap: i32, row: i32, rows: i32): void {
  const step: usize = panelWidth * sizeof<T>()
  const otherStep: usize = sizeof<T>() == 2 ? 32 : 8
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
  for (; x0 < end; x0 += 4, x1 += 4, x2 += 4, x3 += 4, w += step, other += otherStep) {
    const wa = firstWeights<T>(w)
    const wb = lastWeights<T>(w)
    passOn<T>(other, wa, wb)
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
function multiplySixRows<T>(p: Product, panel: i32, weights: usize, other: usize, tap: i32, row: i32, rows: i32): void {
  const step: usize = panelWidth * sizeof<T>()
  const otherStep: usize = sizeof<T>() == 2 ? 32 : 8
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
  for (; x0 < end; x0 += 4, x1 += 4, x2 += 4, x3 += 4, x4 += 4, x5 += 4, w += step, other += otherStep) {
    const wa = firstWeights<T>(w)
    const wb = lastWeights<T>(w)
    passOn<T>(other, wa, wb)
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
