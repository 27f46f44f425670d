import { multiplyDigitRow, multiplyDigitRows } from './digit-product'
import { multiplyIntegerRow, multiplyIntegerRows } from './integer-product'
import { multiplyNarrow } from './narrow'
import { multiplyRow } from './row-product'
import { multiplyRows } from './tile-product'

/**
 * `out = residual + scale · gate ⊙ activation(x Wᵀ + bias)`, x being `[rows, taps · inputs]` and W
 * `[outputs, taps · inputs]`. The inputs of one tap lie together, the taps of a row `tapStride` apart. Each tap is summed
 * on its own: a float32 sum of thousands of terms would lose digits, and weights of a tap fit the nearest cache. Rows may overlap, which makes a convolution a
 * product. Strides are in bytes; gate, bias and residual are missing where their address is 0.
 */
@unmanaged
export class Product {
  x: usize
  xStride: usize
  rows: i32
  /** Rows of one unit of work, where there are many: whole tiles of them, or all. */
  unitRows: i32
  taps: i32
  tapStride: usize
  inputs: i32
  outputs: i32
  format: i32
  weights: usize
  bias: usize
  activation: i32
  scale: f32
  gate: usize
  gateStride: usize
  residual: usize
  residualStride: usize
  out: usize
  outStride: usize
  /**
   * Of products over integers, where x, its strides and `inputs` are those of the quantised rows. Scales of x: row r and
   * tap t have the one at `xScales + r · xScaleStride + t · tapScaleStride`.
   */
  xScales: usize
  xScaleStride: usize
  tapScaleStride: usize
  /** Scales of the weights, one for each output. */
  scales: usize
}

/** How weights lie in memory; the order of src/wasm/descriptors.ts. */
export namespace Format {
  /** Panels of 8 outputs, `[outputs / 8][inputs][8]`, float32. */
  export const f32Panels = 0
  /** The same in bfloat16, in the lane order of `low` and `high`. */
  export const bf16Panels = 1
  /** Rows as they are, float32: for fewer outputs than a panel is worth. */
  export const f32Rows = 2
  /** Panels of 8 outputs as 8-bit integers, `[outputs / 8][taps][inputs / 2][8][2]`. */
  export const i8Panels = 3
  /** The same as 16-bit integers. */
  export const i16Panels = 4
  /** 8-bit integers for rows of digits, in the relaxed build: see digit-product.ts. */
  export const i8DigitPanels = 5
}

/** Outputs in a panel, which are also the columns of a tile. */
export const panelWidth = 8

/**
 * Computes `units` units of work from `first`; any split of them may run at the same time. A unit is a row where weights
 * are kept as rows, a panel where x is one row, and else a panel of `unitRows` rows, those of one panel in succession.
 * Products of many rows need `inputs · 8` values of scratch where weights are bfloat16.
 */
export function multiply(p: Product, first: i32, units: i32, scratch: usize): void {
  if (p.format == Format.f32Rows) multiplyNarrow(p, first, units)
  else if (p.rows == 1) multiplyOneRow(p, first, units)
  else multiplyManyRows(p, first, units, scratch)
}

@inline
function multiplyOneRow(p: Product, first: i32, units: i32): void {
  if (p.format == Format.bf16Panels) multiplyRow<u16>(p, first, units)
  else if (p.format == Format.f32Panels) multiplyRow<f32>(p, first, units)
  else if (p.format == Format.i8Panels) multiplyIntegerRow<i8>(p, first, units)
  else if (ASC_FEATURE_RELAXED_SIMD && p.format == Format.i8DigitPanels) multiplyDigitRow(p, first, units)
  else multiplyIntegerRow<i16>(p, first, units)
}

@inline
function multiplyManyRows(p: Product, first: i32, units: i32, scratch: usize): void {
  if (p.format == Format.bf16Panels) multiplyRows<u16>(p, first, units, scratch)
  else if (p.format == Format.f32Panels) multiplyRows<f32>(p, first, units, scratch)
  else if (p.format == Format.i8Panels) multiplyIntegerRows<i8>(p, first, units)
  else if (ASC_FEATURE_RELAXED_SIMD && p.format == Format.i8DigitPanels) multiplyDigitRows(p, first, units)
  else multiplyIntegerRows<i16>(p, first, units)
}

/** Outputs 0 to 3 of a vector of eight bfloat16 values: the low halves of its words, widened. */
@inline
export function low(v: v128): v128 {
  return i32x4.shl(v, 16)
}

/** Outputs 4 to 7: the high halves, which are the words without their low bits. The mask is `highHalves()`. */
@inline
export function high(v: v128, mask: v128): v128 {
  return v128.and(v, mask)
}

const highHalf = memory.data<u32>([0xffff0000])

/** For a variable outside of the loop: from memory, since V8 builds a constant vector anew at every use. */
@inline
export function highHalves(): v128 {
  return v128.load32_splat(highHalf)
}
