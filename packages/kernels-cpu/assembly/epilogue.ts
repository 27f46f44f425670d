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
 * What follows the sums of a product, in place: rows of a panel's outputs that were just written and lie in the nearest
 * cache. Kept out of the loops that sum, which need every register. One pass for each thing there is to do.
 */
export function finish(p: Product, firstRow: i32, rows: i32, panel: i32): void {
  const column = panel * panelWidth
  if (p.outputs - column < panelWidth) {
    finishColumns(p, firstRow, rows, column, p.outputs)
    return
  }
  const at = <usize>column << 2
  const out = p.out + firstRow * p.outStride + at
  const end = out + rows * p.outStride
  if (p.scales != 0) multiplyBy(out, end, p.outStride, p.scales + at, 0)
  if (p.bias != 0) addTo(out, end, p.outStride, p.bias + at, 0)
  if (p.activation != 0) activatePanel(out, end, p.outStride, p.activation)
  if (p.scale != 1) multiplyByNumber(out, end, p.outStride, p.scale)
  if (p.gate != 0) multiplyBy(out, end, p.outStride, p.gate + firstRow * p.gateStride + at, p.gateStride)
  if (p.residual != 0) addTo(out, end, p.outStride, p.residual + firstRow * p.residualStride + at, p.residualStride)
}

function addTo(out: usize, end: usize, stride: usize, from: usize, fromStride: usize): void {
  for (; out < end; out += stride, from += fromStride) {
    v128.store(out, f32x4.add(v128.load(out), v128.load(from)))
    v128.store(out, f32x4.add(v128.load(out, 16), v128.load(from, 16)), 16)
  }
}

function multiplyBy(out: usize, end: usize, stride: usize, by: usize, byStride: usize): void {
  for (; out < end; out += stride, by += byStride) {
    v128.store(out, f32x4.mul(v128.load(out), v128.load(by)))
    v128.store(out, f32x4.mul(v128.load(out, 16), v128.load(by, 16)), 16)
  }
}

function multiplyByNumber(out: usize, end: usize, stride: usize, by: f32): void {
  const factor = f32x4.splat(by)
  for (; out < end; out += stride) {
    v128.store(out, f32x4.mul(v128.load(out), factor))
    v128.store(out, f32x4.mul(v128.load(out, 16), factor), 16)
  }
}

function activatePanel(out: usize, end: usize, stride: usize, activation: i32): void {
  for (; out < end; out += stride) {
    v128.store(out, activated(v128.load(out), activation))
    v128.store(out, activated(v128.load(out, 16), activation), 16)
  }
}

/** The same for any columns. */
export function finishColumns(p: Product, firstRow: i32, rows: i32, firstColumn: i32, end: i32): void {
  for (let row = firstRow; row < firstRow + rows; row++) {
    for (let column = firstColumn; column < end; column += 4) finishVector(p, row, column, end - column)
  }
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
