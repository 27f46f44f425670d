import { addUpTo, finish } from './epilogue'
import { high, highHalves, low, panelWidth, Product } from './product'
import { madd } from './vector'

/** Rows and columns of a tile: its sums fill 8 of the 16 registers, and larger ones were measured to spill. */
const tileRows = 4
const tileColumns = 8

/**
 * Many rows of x, over the panels that single rows walk. The weights of eight columns and one tap are copied into a
 * block first, widened where they are bfloat16: 16 kB that stay in the nearest cache while all rows pass over them.
 */
export function multiplyRows<T>(p: Product, firstUnit: i32, units: i32, block: usize): void {
  const unitsOfPanel = (p.rows + p.unitRows - 1) / p.unitRows
  for (let unit = firstUnit; unit < firstUnit + units; unit++) {
    const firstRow = (unit % unitsOfPanel) * p.unitRows
    multiplyPanel<T>(p, unit / unitsOfPanel, firstRow, min(firstRow + p.unitRows, p.rows), block)
  }
}

function multiplyPanel<T>(p: Product, panel: i32, firstRow: i32, endRow: i32, block: usize): void {
  const tapBytes = <usize>p.inputs * panelWidth * sizeof<T>()
  for (let half = 0; half < panelWidth; half += tileColumns) {
    const column = panel * panelWidth + half
    if (column >= p.outputs) break
    let weights = p.weights + panel * p.taps * tapBytes + half * sizeof<T>()
    for (let tap = 0; tap < p.taps; tap++, weights += tapBytes) {
      copyBlock<T>(p, weights, block)
      for (let row = firstRow; row < endRow; row += tileRows) multiplyTile(p, block, tap, row, endRow, column)
    }
    finish(p, firstRow, endRow - firstRow, column, tileColumns)
  }
}

/** `[inputs][16]`, eight columns of it, to `[inputs][8]` in float32. */
function copyBlock<T>(p: Product, weights: usize, block: usize): void {
  const step: usize = panelWidth * sizeof<T>()
  const mask = highHalves()
  const end = block + ((<usize>p.inputs * tileColumns) << 2)
  for (let to = block; to < end; to += tileColumns * 4, weights += step) {
    const v = v128.load(weights)
    v128.store(to, sizeof<T>() == 2 ? low(v) : v)
    v128.store(to, sizeof<T>() == 2 ? high(v, mask) : v128.load(weights, 16), 16)
  }
}

/** Where fewer than four rows are left, the last one is computed again in their place, and not stored. */
@inline
function multiplyTile(p: Product, block: usize, tap: i32, row: i32, endRow: i32, column: i32): void {
  const rows = endRow - row
  let w = block
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
  for (const end = x0 + (<usize>p.inputs << 2); x0 < end; x0 += 4, x1 += 4, x2 += 4, x3 += 4, w += 32) {
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
  addRow(p, tap, row, column, a0, b0)
  if (rows > 1) addRow(p, tap, row + 1, column, a1, b1)
  if (rows > 2) addRow(p, tap, row + 2, column, a2, b2)
  if (rows > 3) addRow(p, tap, row + 3, column, a3, b3)
}

@inline
function addRow(p: Product, tap: i32, row: i32, column: i32, a: v128, b: v128): void {
  const out = p.out + row * p.outStride + (<usize>column << 2)
  const left = p.outputs - column
  addUpTo(out, tap, a, left)
  addUpTo(out + 16, tap, b, left - 4)
}
