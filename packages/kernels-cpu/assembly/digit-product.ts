import { addUpTo, finish, finishColumns } from './epilogue'
import { addScaled, scaled } from './integer-product'
import { Product } from './product'

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
 * Panels of 8 outputs are two strips, `[2][taps]`: −8192 · Σ w of its four outputs over the tap, 32 bits each, then
 * the weights, `[inputs / 4][4][4]`. Rows hold four high digits, then the four low ones of the same inputs.
 */

/** Outputs in a strip. */
const stripWidth = 4
const stripsOfPanel = 2

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

/** One row: six streams of strips, which `multiplyRow` has four of; two sums of each are all that registers hold. */
export function multiplyDigitRow(p: Product, firstPanel: i32, panels: i32): void {
  const first = firstPanel * stripsOfPanel
  const strips = panels * stripsOfPanel
  const sixth = strips / 6
  for (let i = 0; i < sixth; i++) multiplyStrips(p, first + i, sixth, 6)
  const left = strips - 6 * sixth
  if (left > 0) multiplyStrips(p, first + strips - left, 1, left)
}

/** One to six strips, `apart` strips from each other. Where there are fewer, the last one is computed in their place. */
function multiplyStrips(p: Product, first: i32, apart: i32, count: i32): void {
  const stripBytes = p.taps * tapBytes(p.inputs)
  const streamBytes = apart * stripBytes
  let a = p.weights + first * stripBytes
  let b = count > 1 ? a + streamBytes : a
  let c = count > 2 ? b + streamBytes : b
  let d = count > 3 ? c + streamBytes : c
  let e = count > 4 ? d + streamBytes : d
  let f = count > 5 ? e + streamBytes : e
  for (let tap = 0; tap < p.taps; tap++) {
    let highA = i32x4.splat(0)
    let highB = highA
    let highC = highA
    let highD = highA
    let highE = highA
    let highF = highA
    let lowA = v128.load(a)
    let lowB = v128.load(b)
    let lowC = v128.load(c)
    let lowD = v128.load(d)
    let lowE = v128.load(e)
    let lowF = v128.load(f)
    let x = p.x + tap * p.tapStride
    for (const end = x + (<usize>p.inputs << 1); x < end; x += 8) {
      a += 16
      b += 16
      c += 16
      d += 16
      e += 16
      f += 16
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
      weights = v128.load(e)
      highE = dot(weights, high, highE)
      lowE = dot(weights, low, lowE)
      weights = v128.load(f)
      highF = dot(weights, high, highF)
      lowF = dot(weights, low, lowF)
    }
    a += 16
    b += 16
    c += 16
    d += 16
    e += 16
    f += 16
    addStrip(p, tap, first, joined(highA, lowA))
    if (count > 1) addStrip(p, tap, first + apart, joined(highB, lowB))
    if (count > 2) addStrip(p, tap, first + 2 * apart, joined(highC, lowC))
    if (count > 3) addStrip(p, tap, first + 3 * apart, joined(highD, lowD))
    if (count > 4) addStrip(p, tap, first + 4 * apart, joined(highE, lowE))
    if (count > 5) addStrip(p, tap, first + 5 * apart, joined(highF, lowF))
  }
  for (let i = 0; i < count; i++) finishStrip(p, first + i * apart)
}

/** Sums of one row. */
@inline
function addStrip(p: Product, tap: i32, strip: i32, sums: v128): void {
  const column = strip * stripWidth
  const scale = v128.load32_splat(p.xScales + tap * p.tapScaleStride)
  addUpTo(p.out + (<usize>column << 2), tap, scaled(sums, scale), p.outputs - column)
}

@inline
function finishStrip(p: Product, strip: i32): void {
  const column = strip * stripWidth
  finishColumns(p, 0, 1, column, min(p.outputs, column + stripWidth))
}

/** Many rows, straight from the panels. */
export function multiplyDigitRows(p: Product, firstUnit: i32, units: i32): void {
  const unitsOfPanel = (p.rows + p.unitRows - 1) / p.unitRows
  for (let unit = firstUnit; unit < firstUnit + units; unit++) {
    const firstRow = (unit % unitsOfPanel) * p.unitRows
    multiplyPanel(p, unit / unitsOfPanel, firstRow, min(firstRow + p.unitRows, p.rows))
  }
}

function multiplyPanel(p: Product, panel: i32, firstRow: i32, endRow: i32): void {
  const step = tapBytes(p.inputs)
  let weights = p.weights + panel * stripsOfPanel * p.taps * step
  for (let tap = 0; tap < p.taps; tap++, weights += step) {
    for (let row = firstRow; row < endRow; ) {
      const left = endRow - row
      if (isForThree(left)) {
        multiplyThreeRows(p, panel, weights, tap, row)
        row += 3
      } else {
        multiplyTwoRows(p, panel, weights, tap, row, left)
        row += 2
      }
    }
  }
  finish(p, firstRow, endRow - firstRow, panel)
}

/** Tiles of two cover four rows. Each row has two sums for each strip: three fill the registers, as six do in float32. */
@inline
function isForThree(rows: i32): bool {
  return rows > 2 && rows != 4
}

/** Where one row is left, it is computed twice, and stored once. */
function multiplyTwoRows(p: Product, panel: i32, weights: usize, tap: i32, row: i32, rows: i32): void {
  let a = weights
  let b = weights + p.taps * tapBytes(p.inputs)
  let x0 = p.x + row * p.xStride + tap * p.tapStride
  let x1 = rows > 1 ? x0 + p.xStride : x0
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
  addScaled(p, tap, row, panel, joined(highA0, lowA0), joined(highB0, lowB0))
  if (rows > 1) addScaled(p, tap, row + 1, panel, joined(highA1, lowA1), joined(highB1, lowB1))
}

function multiplyThreeRows(p: Product, panel: i32, weights: usize, tap: i32, row: i32): void {
  let a = weights
  let b = weights + p.taps * tapBytes(p.inputs)
  let x0 = p.x + row * p.xStride + tap * p.tapStride
  let x1 = x0 + p.xStride
  let x2 = x1 + p.xStride
  let highA0 = i32x4.splat(0)
  let highB0 = highA0
  let highA1 = highA0
  let highB1 = highA0
  let highA2 = highA0
  let highB2 = highA0
  let lowA0 = v128.load(a)
  let lowB0 = v128.load(b)
  let lowA1 = lowA0
  let lowB1 = lowB0
  let lowA2 = lowA0
  let lowB2 = lowB0
  for (const end = x0 + (<usize>p.inputs << 1); x0 < end; x0 += 8, x1 += 8, x2 += 8) {
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
    digits = v128.load32_splat(x2)
    highA2 = dot(wa, digits, highA2)
    highB2 = dot(wb, digits, highB2)
    digits = v128.load32_splat(x2, 4)
    lowA2 = dot(wa, digits, lowA2)
    lowB2 = dot(wb, digits, lowB2)
  }
  addScaled(p, tap, row, panel, joined(highA0, lowA0), joined(highB0, lowB0))
  addScaled(p, tap, row + 1, panel, joined(highA1, lowA1), joined(highB1, lowB1))
  addScaled(p, tap, row + 2, panel, joined(highA2, lowA2), joined(highB2, lowB2))
}
