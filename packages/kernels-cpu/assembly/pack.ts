import { panelWidth } from './product'

/** What `packPanel` does to each value; the order of src/wasm/descriptors.ts. */
export namespace Conversion {
  export const f32ToF32 = 0
  export const f32ToBf16 = 1
  export const bf16ToF32 = 2
  export const bf16ToBf16 = 3
}

/** One panel: up to 16 rows of `inputs` values, one after the other at `rows`, to `[inputs][16]`, missing rows 0. */
export function packPanel(rows: usize, count: i32, inputs: i32, panel: usize, conversion: i32): void {
  if (conversion == Conversion.f32ToF32) pack<u32, u32>(rows, count, inputs, panel)
  else if (conversion == Conversion.f32ToBf16) pack<u32, u16>(rows, count, inputs, panel)
  else if (conversion == Conversion.bf16ToF32) pack<u16, u32>(rows, count, inputs, panel)
  else pack<u16, u16>(rows, count, inputs, panel)
}

function pack<From, To>(rows: usize, count: i32, inputs: i32, panel: usize): void {
  const rowBytes = <usize>inputs * sizeof<From>()
  const step: usize = panelWidth * sizeof<To>()
  for (let output = 0; output < panelWidth; output++) {
    let to = panel + lane<To>(output) * sizeof<To>()
    let from = rows + output * rowBytes
    if (output < count) {
      for (let i = 0; i < inputs; i++, from += sizeof<From>(), to += step) {
        store<To>(to, convert<From, To>(load<From>(from)))
      }
    } else {
      for (let i = 0; i < inputs; i++, to += step) store<To>(to, 0)
    }
  }
}

/** Bfloat16 lanes are laid so that `low` of a vector gives outputs 0 to 3 and `high` outputs 4 to 7. */
@inline
function lane<To>(output: i32): i32 {
  if (sizeof<To>() == 4) return output
  else return (output & 8) | ((output & 3) << 1) | ((output >> 2) & 1)
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
