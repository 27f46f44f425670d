import { finishColumns } from './epilogue'
import { Product } from './product'
import { loadUpTo, madd, sumOfLanes } from './vector'

/** Up to three outputs (the codec's last convolution has one): each is a dot product along the inputs. */
export function multiplyNarrow(p: Product, firstRow: i32, rows: i32): void {
  const outputBytes = <usize>(p.taps * p.inputs) << 2
  for (let row = firstRow; row < firstRow + rows; row++) {
    const x = p.x + row * p.xStride
    const out = p.out + row * p.outStride
    for (let output = 0; output < p.outputs; output++) {
      f32.store(out + (<usize>output << 2), dotTaps(p, x, p.weights + output * outputBytes))
    }
    finishColumns(p, row, 1, 0, p.outputs)
  }
}

@inline
function dotTaps(p: Product, x: usize, weights: usize): f32 {
  let sum = f32x4.splat(0)
  for (let tap = 0; tap < p.taps; tap++) {
    sum = f32x4.add(sum, dot(x + tap * p.tapStride, weights + ((<usize>(tap * p.inputs)) << 2), p.inputs))
  }
  return sumOfLanes(sum)
}

/** Four sums at a time: a single one would wait for each addition before the next. */
@inline
function dot(x: usize, w: usize, length: i32): v128 {
  let a = f32x4.splat(0)
  let b = a
  let c = a
  let d = a
  let i = 0
  for (; i + 16 <= length; i += 16, x += 64, w += 64) {
    a = madd(v128.load(x), v128.load(w), a)
    b = madd(v128.load(x, 16), v128.load(w, 16), b)
    c = madd(v128.load(x, 32), v128.load(w, 32), c)
    d = madd(v128.load(x, 48), v128.load(w, 48), d)
  }
  for (; i < length; i += 4, x += 16, w += 16) a = madd(loadUpTo(x, length - i), loadUpTo(w, length - i), a)
  return f32x4.add(f32x4.add(a, b), f32x4.add(c, d))
}
