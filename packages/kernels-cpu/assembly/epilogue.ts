import { activated } from './functions'
import { panelWidth, Product } from './product'
import { loadUpTo, storeUpTo } from './vector'

/** The sums of one tap, of a row and the outputs of a panel, join those of the taps before. */
@inline
export function addPanel(p: Product, tap: i32, row: i32, panel: i32, first: v128, second: v128): void {
  const column = panel * panelWidth
  const out = p.out + row * p.outStride + (<usize>column << 2)
  const left = p.outputs - column
  if (left < panelWidth) {
    addUpTo(out, tap, first, left)
    addUpTo(out + 16, tap, second, left - 4)
  } else if (tap == 0) {
    v128.store(out, first)
    v128.store(out, second, 16)
  } else {
    v128.store(out, f32x4.add(v128.load(out), first))
    v128.store(out, f32x4.add(v128.load(out, 16), second), 16)
  }
}

/** Four sums of one tap, or the first `count` of them, join those of the taps before. */
@inline
export function addUpTo(out: usize, tap: i32, sums: v128, count: i32): void {
  storeUpTo(out, tap == 0 ? sums : f32x4.add(loadUpTo(out, count), sums), count)
}

/**
 * What follows the sums of a product, in place: outputs of a panel that were just written and lie in the nearest cache.
 * Kept out of the loops that sum, which need every register.
 */
export function finish(p: Product, firstRow: i32, rows: i32, panel: i32): void {
  const firstColumn = panel * panelWidth
  finishColumns(p, firstRow, rows, firstColumn, min(p.outputs, firstColumn + panelWidth))
}

/** The same for any columns. */
export function finishColumns(p: Product, firstRow: i32, rows: i32, firstColumn: i32, end: i32): void {
  if (isPlain(p)) return
  for (let row = firstRow; row < firstRow + rows; row++) {
    for (let column = firstColumn; column < end; column += 4) finishVector(p, row, column, end - column)
  }
}

@inline
function isPlain(p: Product): bool {
  return p.scales == 0 && p.bias == 0 && p.activation == 0 && p.scale == 1 && p.gate == 0 && p.residual == 0
}

@inline
function finishVector(p: Product, row: i32, column: i32, left: i32): void {
  const at = <usize>column << 2
  const out = p.out + row * p.outStride + at
  let y = loadUpTo(out, left)
  if (p.scales != 0) y = f32x4.mul(y, loadUpTo(p.scales + at, left))
  if (p.bias != 0) y = f32x4.add(y, loadUpTo(p.bias + at, left))
  if (p.activation != 0) y = activated(y, p.activation)
  if (p.scale != 1) y = f32x4.mul(y, f32x4.splat(p.scale))
  if (p.gate != 0) y = f32x4.mul(y, loadUpTo(p.gate + row * p.gateStride + at, left))
  if (p.residual != 0) y = f32x4.add(y, loadUpTo(p.residual + row * p.residualStride + at, left))
  storeUpTo(out, y, left)
}
