import type { Activation } from '@pocket/nn'
import { nothing, type Rows } from './binding.ts'
import { activationCodes, formatCodes, product, writeDescriptor } from './descriptors.ts'
import { type PackedWeights, panelWidth } from './pack.ts'
import { unitRowsOf, type Work } from './program.ts'
import type { Runtime } from './runtime.ts'
import type { Taps } from './taps.ts'

/** `out = residual + scale · gate ⊙ activation(x Wᵀ + bias)`; what is left out is not there. */
export interface ProductSource {
  readonly x: Rows
  readonly rows: number
  /** How the inputs of a row lie. */
  readonly taps: Taps
  readonly weights: { readonly packed: PackedWeights; readonly bias: number }
  readonly activation?: Activation
  readonly scale?: number
  readonly gate?: Rows
  readonly residual?: Rows
  readonly out: Rows
  /** Of integers: the scale of a row and tap. `stride` is from row to row, `tapStride` from tap to tap. */
  readonly xScales?: Rows & { readonly tapStride: number }
}

/** Describes a product at `descriptor`. */
export const bindProduct = (runtime: Runtime, descriptor: number, source: ProductSource): Work => {
  const { x, rows, taps, weights, activation = 'none', scale = 1, out } = source
  const { gate = nothing, residual = nothing, xScales = { ...nothing, tapStride: 0 } } = source
  const { packed, bias } = weights
  const { outputs, inputs, format, panels } = packed
  const load = rows * outputs * inputs
  const unitRows = unitRowsOf(rows, panels, load, runtime.threads)
  writeDescriptor(runtime, descriptor, product, {
    x: x.address,
    xStride: x.stride,
    rows,
    unitRows,
    ...taps,
    outputs,
    format,
    weights: packed.address,
    bias,
    activation: activationCodes[activation],
    scale,
    gate: gate.address,
    gateStride: gate.stride,
    residual: residual.address,
    residualStride: residual.stride,
    out: out.address,
    outStride: out.stride,
    xScales: xScales.address,
    xScaleStride: xScales.stride,
    tapScaleStride: xScales.tapStride,
    scales: packed.integers?.scales ?? 0,
  })
  const units = format === formatCodes.f32Rows ? rows : panels * Math.ceil(rows / unitRows)
  return { kernel: 'multiply', descriptor, units, load }
}

/** Float32 values of a thread's scratch: the weights of a panel and a tap, for a product of many rows. */
export const productScratch = (rows: number, { inputs }: Taps): number => (rows > 1 ? inputs * panelWidth : 0)
