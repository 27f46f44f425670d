import { panelWidth } from './product'

/** What `packPanel` does to each value; the order of src/wasm/descriptors.ts. */
export namespace Conversion {
  export const f32ToF32 = 0
  export const f32ToBf16 = 1
  export const bf16ToF32 = 2
  export const bf16ToBf16 = 3
}

/** One panel: up to 8 rows of `inputs` values, one after the other at `rows`, to `[inputs][8]`, missing rows 0. */
export function packPanel(rows: usize, count: i32, inputs: i32, panel: usize, conversion: i32): void {
  if (conversion == Conversion.f32ToF32) pack<u32, u32>(rows, count, inputs, panel)
  else if (conversion == Conversion.f32ToBf16) pack<u32, u16>(rows, count, inputs, panel)
  else if (conversion == Conversion.bf16ToF32) pack<u16, u32>(rows, count, inputs, panel)
  else pack<u16, u16>(rows, count, inputs, panel)
}

function pack<From, To>(rows: usize, count: i32, inputs: i32, panel: usize): void {
  const rowBytes = <usize>inputs * sizeof<From>()
  const step: usize = panelWidth * sizeof<To>()
  // What is neither converted nor missing goes in squares, the rest value by value.
  const isMoved = sizeof<From>() == sizeof<To>() && count == panelWidth
  const moved = isMoved ? inputs & ~7 : 0
  for (let i = 0; i < moved; i += 8) {
    const from = rows + i * sizeof<From>()
    const to = panel + i * step
    if (sizeof<To>() == 2) transpose8(from, rowBytes, to, step)
    else {
      for (let part = 0; part < 8; part += 4) {
        transpose4(from + part * rowBytes, rowBytes, to + part * 4, step)
        transpose4(from + part * rowBytes + 16, rowBytes, to + 4 * step + part * 4, step)
      }
    }
  }
  for (let output = 0; output < panelWidth; output++) {
    let to = panel + moved * step + lane<To>(output) * sizeof<To>()
    let from = rows + output * rowBytes + moved * sizeof<From>()
    if (output < count) {
      for (let i = moved; i < inputs; i++, from += sizeof<From>(), to += step) {
        store<To>(to, convert<From, To>(load<From>(from)))
      }
    } else {
      for (let i = 0; i < inputs; i++, to += step) store<To>(to, 0)
    }
  }
}

/** Four values of four rows, 32 bits each, to four of each column. */
@inline
function transpose4(from: usize, rowBytes: usize, to: usize, step: usize): void {
  storeColumns(
    v128.load(from),
    v128.load(from + rowBytes),
    v128.load(from + 2 * rowBytes),
    v128.load(from + 3 * rowBytes),
    to,
    step,
  )
}

/** Columns of four vectors become four rows, `step` bytes apart. */
@inline
function storeColumns(a: v128, b: v128, c: v128, d: v128, to: usize, step: usize): void {
  const ab0 = v128.shuffle<i32>(a, b, 0, 4, 1, 5)
  const ab1 = v128.shuffle<i32>(a, b, 2, 6, 3, 7)
  const cd0 = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
  const cd1 = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
  v128.store(to, v128.shuffle<i64>(ab0, cd0, 0, 2))
  v128.store(to + step, v128.shuffle<i64>(ab0, cd0, 1, 3))
  v128.store(to + 2 * step, v128.shuffle<i64>(ab1, cd1, 0, 2))
  v128.store(to + 3 * step, v128.shuffle<i64>(ab1, cd1, 1, 3))
}

/** Eight values of eight rows, 16 bits each, to eight of each column, in the order of `lane`. */
@inline
function transpose8(from: usize, rowBytes: usize, to: usize, step: usize): void {
  const other = from + 4 * rowBytes
  const a = v128.load(from)
  const b = v128.load(from + rowBytes)
  const c = v128.load(from + 2 * rowBytes)
  const d = v128.load(from + 3 * rowBytes)
  const e = v128.load(other)
  const f = v128.load(other + rowBytes)
  const g = v128.load(other + 2 * rowBytes)
  const h = v128.load(other + 3 * rowBytes)
  storeColumns(beginnings(a, e), beginnings(b, f), beginnings(c, g), beginnings(d, h), to, step)
  storeColumns(endings(a, e), endings(b, f), endings(c, g), endings(d, h), to + 4 * step, step)
}

/** The first four values of both, in turn: pairs of outputs four apart, as `lane` wants them. */
@inline
function beginnings(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
}

/** The last four. */
@inline
function endings(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
}

/** Bfloat16 lanes are laid so that `low` of a vector gives outputs 0 to 3 and `high` outputs 4 to 7. */
@inline
function lane<To>(output: i32): i32 {
  if (sizeof<To>() == 4) return output
  else return ((output & 3) << 1) | (output >> 2)
}

@inline
function convert<From, To>(bits: From): To {
  if (sizeof<From>() == sizeof<To>()) return <To>bits
  else if (sizeof<To>() == 4) return <To>((<u32>bits) << 16)
  else return <To>roundToBf16(<u32>bits)
}

/** To the nearest, ties to even; a NaN stays one, though its payload may be lost. */
@inline
function roundToBf16(bits: u32): u32 {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >> 16) | 0x40
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16
}
