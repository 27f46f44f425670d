import { addUpTo, finish } from './epilogue'
import { scaled } from './integer-product'
import { panelWidth, Product } from './product'

/**
 * Products over integers: weights of 8 bits times rows of 14, with the relaxed build's dot product of 8-bit and 7-bit
 * integers. Where the processor has an instruction for it, that is half as many as those of integer-product.ts for the
 * same bits. A value of a row is two digits, 0 to 127 each: x = 128 · (high − 64) + low, and so
 *
 *     Σ w x = 128 · Σ w high + (Σ w low − 8192 · Σ w)
 *
 * The last term is known when weights are packed. Parts may leave 32 bits, and come back: sums wrap around, and the
 * whole is as small as that of the other kernels.
 *
 * Panels of 16 outputs are four strips, `[4][taps]`: −8192 · Σ w of its four outputs over the tap, 32 bits each, then
 * the weights, `[inputs / 4][4][4]`. Rows hold four high digits, then the four low ones of the same inputs.
 */

/** Outputs in a strip. */
const stripWidth = 4
const stripsOfPanel = 4

/** Bytes before a strip's weights of a tap. */
const correctionBytes: usize = 16

/** Of a strip. */
@inline
function tapBytes(inputs: i32): usize {
  return correctionBytes + <usize>inputs * stripWidth
}

/** Bytes of a panel. */
@inline
export function digitPanelBytes(inputs: i32, taps: i32): usize {
  return stripsOfPanel * taps * tapBytes(inputs)
}

/** Where in a panel the correction of an output and a tap lies, −8192 · Σ w. */
@inline
export function correctionPlace(inputs: i32, taps: i32, output: i32, tap: i32): usize {
  return (output / stripWidth * taps + tap) * tapBytes(inputs) + ((output % stripWidth) << 2)
}

/** Where a weight lies whose output and tap have their correction here, which takes the room of four inputs. */
@inline
export function weightAfter(correction: usize, input: i32): usize {
  return correction + correctionBytes + ((input & ~3) << 2) + (input & 3)
}

@inline
function dot(weights: v128, digits: v128, sums: v128): v128 {
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(weights, digits, sums)
}

@inline
function joined(high: v128, low: v128): v128 {
  return i32x4.add(i32x4.shl(high, 7), low)
}

/** One row: four streams of strips, as far from each other as they can be, so that memory is read ahead of them all. */
export function multiplyDigitRow(p: Product, firstPanel: i32, panels: i32): void {
  const first = firstPanel * stripsOfPanel
  for (let i = first; i < first + panels; i++) multiplyStrips(p, i, i + panels, i + 2 * panels, i + 3 * panels)
}

function multiplyStrips(p: Product, first: i32, second: i32, third: i32, fourth: i32): void {
  const stripBytes = p.taps * tapBytes(p.inputs)
  let a = p.weights + first * stripBytes
  let b = p.weights + second * stripBytes
  let c = p.weights + third * stripBytes
  let d = p.weights + fourth * stripBytes
  for (let tap = 0; tap < p.taps; tap++) {
    let highA = i32x4.splat(0)
    let highB = highA
    let highC = highA
    let highD = highA
    let lowA = v128.load(a)
    let lowB = v128.load(b)
    let lowC = v128.load(c)
    let lowD = v128.load(d)
    let x = p.x + tap * p.tapStride
    for (const end = x + (<usize>p.inputs << 1); x < end; x += 8) {
      a += 16
      b += 16
      c += 16
      d += 16
      const high = v128.load32_splat(x)
      const low = v128.load32_splat(x, 4)
      let weights = v128.load(a)
      highA = dot(weights, high, highA)
      lowA = dot(weights, low, lowA)
      weights = v128.load(b)
      highB = dot(weights, high, highB)
      lowB = dot(weights, low, lowB)
      weights = v128.load(c)
      highC = dot(weights, high, highC)
      lowC = dot(weights, low, lowC)
      weights = v128.load(d)
      highD = dot(weights, high, highD)
      lowD = dot(weights, low, lowD)
    }
    a += 16
    b += 16
    c += 16
    d += 16
    addStrip(p, tap, 0, first * stripWidth, joined(highA, lowA))
    addStrip(p, tap, 0, second * stripWidth, joined(highB, lowB))
    addStrip(p, tap, 0, third * stripWidth, joined(highC, lowC))
    addStrip(p, tap, 0, fourth * stripWidth, joined(highD, lowD))
  }
  finish(p, 0, 1, first * stripWidth, stripWidth)
  finish(p, 0, 1, second * stripWidth, stripWidth)
  finish(p, 0, 1, third * stripWidth, stripWidth)
  finish(p, 0, 1, fourth * stripWidth, stripWidth)
}

@inline
function addStrip(p: Product, tap: i32, row: i32, column: i32, sums: v128): void {
  const scale = v128.load32_splat(p.xScales + row * p.xScaleStride + tap * p.tapScaleStride)
  addUpTo(p.out + row * p.outStride + (<usize>column << 2), tap, scaled(sums, scale), p.outputs - column)
}

/** Rows of a tile, and columns: two strips. Two digits take twice the sums of a tile of integer-product.ts. */
const tileRows = 2
const tileColumns = 8

/** Many rows, straight from the panels. */
export function multiplyDigitRows(p: Product, firstUnit: i32, units: i32): void {
  const unitsOfPanel = (p.rows + p.unitRows - 1) / p.unitRows
  for (let unit = firstUnit; unit < firstUnit + units; unit++) {
    const firstRow = (unit % unitsOfPanel) * p.unitRows
    multiplyPanel(p, unit / unitsOfPanel, firstRow, min(firstRow + p.unitRows, p.rows))
  }
}

function multiplyPanel(p: Product, panel: i32, firstRow: i32, endRow: i32): void {
  const endColumn = min((panel + 1) * panelWidth, p.outputs)
  const step = tapBytes(p.inputs)
  for (let column = panel * panelWidth; column < endColumn; column += tileColumns) {
    let weights = p.weights + (column / stripWidth) * p.taps * step
    for (let tap = 0; tap < p.taps; tap++, weights += step) {
      for (let row = firstRow; row < endRow; row += tileRows) {
        multiplyTile(p, weights, tap, row, endRow, column)
      }
    }
    finish(p, firstRow, endRow - firstRow, column, tileColumns)
  }
}

/** Where one row is left, it is computed twice, and stored once. */
function multiplyTile(p: Product, weights: usize, tap: i32, row: i32, endRow: i32, column: i32): void {
  const hasSecond = row + 1 < endRow
  let a = weights
  let b = weights + p.taps * tapBytes(p.inputs)
  let x0 = p.x + row * p.xStride + tap * p.tapStride
  let x1 = hasSecond ? x0 + p.xStride : x0
  let highA0 = i32x4.splat(0)
  let highB0 = highA0
  let highA1 = highA0
  let highB1 = highA0
  let lowA0 = v128.load(a)
  let lowB0 = v128.load(b)
  let lowA1 = lowA0
  let lowB1 = lowB0
  for (const end = x0 + (<usize>p.inputs << 1); x0 < end; x0 += 8, x1 += 8) {
    a += 16
    b += 16
    const wa = v128.load(a)
    const wb = v128.load(b)
    let digits = v128.load32_splat(x0)
    highA0 = dot(wa, digits, highA0)
    highB0 = dot(wb, digits, highB0)
    digits = v128.load32_splat(x0, 4)
    lowA0 = dot(wa, digits, lowA0)
    lowB0 = dot(wb, digits, lowB0)
    digits = v128.load32_splat(x1)
    highA1 = dot(wa, digits, highA1)
    highB1 = dot(wb, digits, highB1)
    digits = v128.load32_splat(x1, 4)
    lowA1 = dot(wa, digits, lowA1)
    lowB1 = dot(wb, digits, lowB1)
  }
  addStrip(p, tap, row, column, joined(highA0, lowA0))
  addStrip(p, tap, row, column + stripWidth, joined(highB0, lowB0))
  if (!hasSecond) return
  addStrip(p, tap, row + 1, column, joined(highA1, lowA1))
  addStrip(p, tap, row + 1, column + stripWidth, joined(highB1, lowB1))
}
