import { activated, activatedBy, Activation } from './functions'
import { loadUpTo, storeUpTo } from './vector'

/** `out = activation(x + vector)` of rows of `columns`; no vector where its address is 0. Strides in bytes. */
@unmanaged
export class Elementwise {
  x: usize
  xStride: usize
  out: usize
  outStride: usize
  columns: i32
  vector: usize
  activation: i32
}

/** `rows` rows, from `firstRow`. */
export function activate(e: Elementwise, firstRow: i32, rows: i32): void {
  for (let row = firstRow; row < firstRow + rows; row++) {
    activateRow(e.x + row * e.xStride, e.out + row * e.outStride, e.columns, e.vector, e.activation)
  }
}

export function activateRow(x: usize, out: usize, columns: i32, vector: usize, activation: i32): void {
  if (activation == Activation.elu) mapRow(x, out, columns, vector, Activation.elu)
  else if (activation == Activation.gelu) mapRow(x, out, columns, vector, Activation.gelu)
  else if (activation == Activation.silu) mapRow(x, out, columns, vector, Activation.silu)
  else if (vector != 0) mapRow(x, out, columns, vector, Activation.none)
  else memory.copy(out, x, <usize>columns << 2)
}

@inline
function mapRow(x: usize, out: usize, columns: i32, vector: usize, activation: i32): void {
  const whole = <usize>(columns & ~3) << 2
  for (let at: usize = 0; at < whole; at += 16) {
    let y = v128.load(x + at)
    if (vector != 0) y = f32x4.add(y, v128.load(vector + at))
    v128.store(out + at, activatedBy(y, activation))
  }
  const left = columns & 3
  if (left == 0) return
  let y = loadUpTo(x + whole, left)
  if (vector != 0) y = f32x4.add(y, loadUpTo(vector + whole, left))
  storeUpTo(out + whole, activated(y, activation), left)
}
