import { activateRow } from './elementwise'
import { Quantization, quantizeInto } from './quantize'
import { loadUpTo, madd, storeUpTo } from './vector'

/**
 * The rows that a convolution sees in a run: those of before, then the run's own, activated, one after the other in
 * `window` `[historyRows + rows, channels]`. `history` holds the last rows as they came. Strides in bytes.
 */
@unmanaged
export class Window {
  x: usize
  xStride: usize
  rows: i32
  channels: i32
  /** Address of a word that is 1 until the first run: only then padding takes place. */
  fresh: usize
  history: usize
  historyRows: i32
  /** 1: the first input stands for all that were before it, 0: zeros do. */
  replicate: i32
  activation: i32
  window: usize
  /** Where the window is to hold integers: the quantisation of its rows, which then come from scratch. Else 0. */
  quantization: usize
}

/**
 * Fills `rows` rows of the window from `firstRow`: rows of the history first, then those of x. `scratch` holds a row of
 * `channels` values where they become integers.
 */
export function slide(w: Window, firstRow: i32, rows: i32, scratch: usize): void {
  const rowBytes = <usize>w.channels << 2
  const replicates = w.replicate != 0 && load<u32>(w.fresh) != 0
  for (let row = firstRow; row < firstRow + rows; row++) {
    let from = w.x + (row - w.historyRows) * w.xStride
    if (row < w.historyRows) from = replicates ? w.x : w.history + row * rowBytes
    if (w.quantization == 0) activateRow(from, w.window + row * rowBytes, w.channels, 0, w.activation)
    else slideIntegers(w, row, from, scratch)
  }
}

@inline
function slideIntegers(w: Window, row: i32, from: usize, scratch: usize): void {
  if (w.activation != 0) {
    activateRow(from, scratch, w.channels, 0, w.activation)
    from = scratch
  }
  quantizeInto(changetype<Quantization>(w.quantization), row, from)
}

/** When all of the window is filled: the last `historyRows` of history and x together become the history. */
export function remember(w: Window): void {
  const rowBytes = <usize>w.channels << 2
  if (load<u32>(w.fresh) != 0) {
    store<u32>(w.fresh, 0)
    if (w.replicate != 0) {
      for (let row = 0; row < w.historyRows; row++) memory.copy(w.history + row * rowBytes, w.x, rowBytes)
    }
  }
  const kept = max(w.historyRows - w.rows, 0)
  memory.copy(w.history, w.history + (w.historyRows - kept) * rowBytes, kept * rowBytes)
  const from = w.rows - (w.historyRows - kept)
  for (let row = kept; row < w.historyRows; row++) {
    memory.copy(w.history + row * rowBytes, w.x + (from + row - kept) * w.xStride, rowBytes)
  }
}

/**
 * A transposed convolution that filters every channel on its own: `out[t · stride + j] = bias + Σ weights[i · stride
 * + j] · window[t + taps − 1 − i]`, weights `[kernel, channels]`, out `[rows · stride, channels]`.
 */
@unmanaged
export class Upsampling {
  window: usize
  channels: i32
  stride: i32
  taps: i32
  weights: usize
  bias: usize
  out: usize
}

/** `rows` rows of out, from `firstRow`. */
export function upsample(u: Upsampling, firstRow: i32, rows: i32): void {
  const rowBytes = <usize>u.channels << 2
  for (let row = firstRow; row < firstRow + rows; row++) {
    const newest = u.window + (row / u.stride + u.taps - 1) * rowBytes
    const weights = u.weights + (row % u.stride) * rowBytes
    for (let channel = 0; channel < u.channels; channel += 4) {
      const at = <usize>channel << 2
      const left = u.channels - channel
      let sum = u.bias != 0 ? loadUpTo(u.bias + at, left) : f32x4.splat(0)
      for (let tap = 0; tap < u.taps; tap++) {
        const w = loadUpTo(weights + tap * u.stride * rowBytes + at, left)
        sum = madd(w, loadUpTo(newest - tap * rowBytes + at, left), sum)
      }
      storeUpTo(u.out + row * rowBytes + at, sum, left)
    }
  }
}
