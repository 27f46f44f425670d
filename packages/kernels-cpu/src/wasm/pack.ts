import { bytesPerWeight, type Precision } from '@pocket/nn'
import { bf16ToF32, f32ToBf16 } from '@pocket/safetensors'
import type { IntegerPrecision, IntegerTaps } from '../integers.ts'
import { conversionCodes, type Dtype, formatCodes } from './descriptors.ts'
import type { Runtime } from './runtime.ts'

/** Outputs that lie side by side in memory; `panelWidth` of assembly/product.ts. */
export const panelWidth = 8

/** Matrices of fewer outputs are kept as rows: of a panel most would be padding. */
const narrowest = 4

/** `[outputs, inputs]` weights, in any order of a checkpoint's: filled in row by row while they are packed. */
export interface RowSource {
  readonly outputs: number
  readonly inputs: number
  readonly dtype: Dtype
  /** How sums over integers are cut. */
  readonly taps: IntegerTaps
  /** Writes rows `first … first + count` to `into`, `inputs` values each, in the bytes of `dtype`. */
  fill(into: Uint8Array, first: number, count: number): void
}

/** Weights as the product kernels take them. */
export interface PackedWeights {
  readonly outputs: number
  readonly inputs: number
  readonly format: number
  readonly address: number
  /** Units of work that `multiply` counts in. */
  readonly panels: number
  /** Of integers only. */
  readonly integers: PackedIntegers | undefined
}

/** What a product over integers has beside its weights. */
export interface PackedIntegers extends IntegerTaps {
  /** Address of the weights' scales, one for each output. */
  readonly scales: number
  /** The greatest value of a quantised row. */
  readonly inputLimit: number
  /** Whether rows are to be digits. */
  readonly asDigits: boolean
}

/**
 * Packs weights into the kernels' memory, a panel at a time: besides the result only one panel's rows are held.
 * `stored` keeps BF16 and F32 as they are.
 */
export const packWeights = (
  runtime: Runtime,
  source: RowSource,
  precision: Exclude<Precision, IntegerPrecision>,
  what: string,
): PackedWeights => {
  const kept = precision === 'stored' ? source.dtype : precision === 'bf16' ? 'BF16' : 'F32'
  return source.outputs < narrowest
    ? packRows(runtime, source, kept, what)
    : packPanels(runtime, source, kept, what)
}

const packPanels = (runtime: Runtime, source: RowSource, kept: Dtype, what: string): PackedWeights => {
  const { outputs, inputs, dtype } = source
  const panels = Math.ceil(outputs / panelWidth)
  const panelBytes = panelWidth * inputs * bytesPerWeight[kept]
  const rowBytes = inputs * bytesPerWeight[dtype]
  const staging = runtime.allocate(panelWidth * rowBytes, what)
  try {
    const address = runtime.allocate(panels * panelBytes, what)
    const bytes = new Uint8Array(runtime.floats.buffer, staging, panelWidth * rowBytes)
    for (let panel = 0; panel < panels; panel++) {
      const first = panel * panelWidth
      const count = Math.min(panelWidth, outputs - first)
      source.fill(bytes.subarray(0, count * rowBytes), first, count)
      const to = address + panel * panelBytes
      runtime.kernels.packPanel(staging, count, inputs, to, conversionCodes[dtype][kept])
    }
    const format = kept === 'BF16' ? formatCodes.bf16Panels : formatCodes.f32Panels
    return { outputs, inputs, format, address, panels, integers: undefined }
  } finally {
    runtime.free(staging)
  }
}

const packRows = (runtime: Runtime, source: RowSource, kept: Dtype, what: string): PackedWeights => {
  const { outputs, inputs, dtype } = source
  const bytes = new Uint8Array(outputs * inputs * bytesPerWeight[dtype])
  source.fill(bytes, 0, outputs)
  const stored = dtype === 'BF16' ? bf16ToF32(bytes) : new Float32Array(bytes.buffer)
  const rounded = kept === 'BF16' ? roundedToBf16(stored) : stored
  const address = runtime.store(rounded, what)
  return { outputs, inputs, format: formatCodes.f32Rows, address, panels: 1, integers: undefined }
}

const roundedToBf16 = (values: Float32Array): Float32Array => {
  const { buffer, byteOffset, byteLength } = f32ToBf16(values)
  return bf16ToF32(new Uint8Array(buffer, byteOffset, byteLength))
}
