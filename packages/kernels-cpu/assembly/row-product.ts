import { addUpTo, finish } from './epilogue'
import { high, highHalves, low, panelWidth, Product } from './product'
import { madd } from './vector'

/**
 * One row of x: every weight is read once, and reading is what takes the time. The panels are walked as two streams
 * that lie half the matrix apart, which two hardware prefetchers follow; one stream is a fifth slower, four as well.
 */
export function multiplyRow<T>(p: Product, firstPanel: i32, panels: i32): void {
  const half = panels >> 1
  for (let i = 0; i < half; i++) multiplyPair<T>(p, firstPanel + i, firstPanel + half + i)
  const last = firstPanel + panels - 1
  if (panels & 1) multiplyPair<T>(p, last, last)
}

function multiplyPair<T>(p: Product, first: i32, second: i32): void {
  const step: usize = panelWidth * sizeof<T>()
  const panelBytes = <usize>(p.taps * p.inputs) * step
  const mask = highHalves()
  let a = p.weights + first * panelBytes
  let b = p.weights + second * panelBytes
  for (let tap = 0; tap < p.taps; tap++) {
    let a0 = f32x4.splat(0)
    let a1 = a0
    let a2 = a0
    let a3 = a0
    let b0 = a0
    let b1 = a0
    let b2 = a0
    let b3 = a0
    let x = p.x + tap * p.tapStride
    for (const end = x + (<usize>p.inputs << 2); x < end; x += 4, a += step, b += step) {
      const s = v128.load32_splat(x)
      if (sizeof<T>() == 4) {
        a0 = madd(v128.load(a), s, a0)
        a1 = madd(v128.load(a, 16), s, a1)
        a2 = madd(v128.load(a, 32), s, a2)
        a3 = madd(v128.load(a, 48), s, a3)
        b0 = madd(v128.load(b), s, b0)
        b1 = madd(v128.load(b, 16), s, b1)
        b2 = madd(v128.load(b, 32), s, b2)
        b3 = madd(v128.load(b, 48), s, b3)
      } else {
        let v = v128.load(a)
        a0 = madd(low(v), s, a0)
        a1 = madd(high(v, mask), s, a1)
        v = v128.load(a, 16)
        a2 = madd(low(v), s, a2)
        a3 = madd(high(v, mask), s, a3)
        v = v128.load(b)
        b0 = madd(low(v), s, b0)
        b1 = madd(high(v, mask), s, b1)
        v = v128.load(b, 16)
        b2 = madd(low(v), s, b2)
        b3 = madd(high(v, mask), s, b3)
      }
    }
    addPanel(p, tap, first * panelWidth, a0, a1, a2, a3)
    if (second != first) addPanel(p, tap, second * panelWidth, b0, b1, b2, b3)
  }
  finish(p, 0, 1, first * panelWidth, panelWidth)
  if (second != first) finish(p, 0, 1, second * panelWidth, panelWidth)
}

@inline
function addPanel(p: Product, tap: i32, column: i32, v0: v128, v1: v128, v2: v128, v3: v128): void {
  const out = p.out + (<usize>column << 2)
  const left = p.outputs - column
  addUpTo(out, tap, v0, left)
  addUpTo(out + 16, tap, v1, left - 4)
  addUpTo(out + 32, tap, v2, left - 8)
  addUpTo(out + 48, tap, v3, left - 12)
}
