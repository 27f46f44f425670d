import { addPanel, finish } from './epilogue'
import { high, highHalves, low, panelWidth, Product } from './product'
import { madd } from './vector'

/**
 * One row of x: every weight is read once, and reading is what takes the time. The panels are walked as four streams
 * that lie a quarter of them apart, which as many hardware prefetchers follow: how many make a core wait least differs
 * between processors (docs/decisions/012).
 */
export function multiplyRow<T>(p: Product, firstPanel: i32, panels: i32): void {
  const quarter = panels >> 2
  for (let i = 0; i < quarter; i++) multiplyStreams<T>(p, firstPanel + i, quarter, 4)
  const left = panels & 3
  if (left > 0) multiplyStreams<T>(p, firstPanel + panels - left, 1, left)
}

/** One to four panels, `apart` panels from each other. Where there are fewer, the last one is computed in their place. */
function multiplyStreams<T>(p: Product, first: i32, apart: i32, count: i32): void {
  const step: usize = panelWidth * sizeof<T>()
  const panelBytes = <usize>(p.taps * p.inputs) * step
  const streamBytes = apart * panelBytes
  const mask = highHalves()
  let a = p.weights + first * panelBytes
  let b = count > 1 ? a + streamBytes : a
  let c = count > 2 ? b + streamBytes : b
  let d = count > 3 ? c + streamBytes : c
  for (let tap = 0; tap < p.taps; tap++) {
    let a0 = f32x4.splat(0)
    let a1 = a0
    let b0 = a0
    let b1 = a0
    let c0 = a0
    let c1 = a0
    let d0 = a0
    let d1 = a0
    let x = p.x + tap * p.tapStride
    for (const end = x + (<usize>p.inputs << 2); x < end; x += 4, a += step, b += step, c += step, d += step) {
      const s = v128.load32_splat(x)
      if (sizeof<T>() == 4) {
        a0 = madd(v128.load(a), s, a0)
        a1 = madd(v128.load(a, 16), s, a1)
        b0 = madd(v128.load(b), s, b0)
        b1 = madd(v128.load(b, 16), s, b1)
        c0 = madd(v128.load(c), s, c0)
        c1 = madd(v128.load(c, 16), s, c1)
        d0 = madd(v128.load(d), s, d0)
        d1 = madd(v128.load(d, 16), s, d1)
      } else {
        let v = v128.load(a)
        a0 = madd(low(v), s, a0)
        a1 = madd(high(v, mask), s, a1)
        v = v128.load(b)
        b0 = madd(low(v), s, b0)
        b1 = madd(high(v, mask), s, b1)
        v = v128.load(c)
        c0 = madd(low(v), s, c0)
        c1 = madd(high(v, mask), s, c1)
        v = v128.load(d)
        d0 = madd(low(v), s, d0)
        d1 = madd(high(v, mask), s, d1)
      }
    }
    addPanel(p, tap, 0, first, a0, a1)
    if (count > 1) addPanel(p, tap, 0, first + apart, b0, b1)
    if (count > 2) addPanel(p, tap, 0, first + 2 * apart, c0, c1)
    if (count > 3) addPanel(p, tap, 0, first + 3 * apart, d0, d1)
  }
  for (let i = 0; i < count; i++) finish(p, 0, 1, first + i * apart)
}
