import { activated } from './functions'
import { loadUpTo, storeUpTo } from './vector'

/** `out = activation(x + vector)` over `[rows, columns]`; no vector where its address is 0. Strides in bytes. */
@unmanaged
export class Elementwise {
  x: usize
  xStride: usize
  out: usize
  outStride: usize
  rows: i32
  columns: i32
  vector: usize
  activation: i32
}

export function activate(e: Elementwise): void {
  for (let row = 0; row < e.rows; row++) {
    activateRow(e.x + row * e.xStride, e.out + row * e.outStride, e.columns, e.vector, e.activation)
  }
}

export function activateRow(x: usize, out: usize, columns: i32, vector: usize, activation: i32): void {
  for (let column = 0; column < columns; column += 4) {
    const at = <usize>column << 2
    const left = columns - column
    let y = loadUpTo(x + at, left)
    if (vector != 0) y = f32x4.add(y, loadUpTo(vector + at, left))
    storeUpTo(out + at, activated(y, activation), left)
  }
}
