import { bytesPerWeight, KernelError } from '@pocket/nn'
import { type IntegerFormat, type IntegerPrecision, integerFormats, sumLimit } from '../integers.ts'
import { formatCodes, integerPanel, writeDescriptor } from './descriptors.ts'
import { prefersDigits } from './digits.ts'
import { type PackedWeights, panelWidth, type RowSource } from './pack.ts'
import type { Runtime } from './runtime.ts'

const bytesPerInteger: Record<IntegerPrecision, number> = { int8: 1, int16: 2 }

/** What a panel for rows of digits has for each tap beside the weights; see assembly/digit-product.ts. */
const correctionBytes = 32

/** Packs weights as integers, a panel at a time; see assembly/pack-integers.ts. Throws KernelError `shape`. */
export const packIntegers = (
  runtime: Runtime,
  source: RowSource,
  precision: IntegerPrecision,
  what: string,
): PackedWeights => {
  const { outputs, inputs, dtype, taps } = source
  const format = integerFormats[precision]
  checkTap(format, taps.inputs, what)
  // Two ways to the same sums: the faster one where this machine has it.
  const asDigits = precision === 'int8' && prefersDigits(runtime.kernels)
  const panels = Math.ceil(outputs / panelWidth)
  const tapBytes = panelWidth * taps.inputs * bytesPerInteger[precision] + (asDigits ? correctionBytes : 0)
  const panelBytes = taps.taps * tapBytes
  const rowBytes = inputs * bytesPerWeight[dtype]
  const staging = runtime.allocate(panelWidth * rowBytes, what)
  const descriptor = runtime.allocate(Object.keys(integerPanel).length * 4, what)
  try {
    const address = runtime.allocate(panels * panelBytes, what)
    const scales = runtime.allocate(panels * panelWidth * 4, what)
    const rows = new Uint8Array(runtime.floats.buffer, staging, panelWidth * rowBytes)
    for (let panel = 0; panel < panels; panel++) {
      const first = panel * panelWidth
      const count = Math.min(panelWidth, outputs - first)
      source.fill(rows.subarray(0, count * rowBytes), first, count)
      writeDescriptor(runtime, descriptor, integerPanel, {
        rows: staging,
        count,
        columns: inputs,
        ...taps,
        limit: format.weightLimit,
        sumLimit: sumLimit(format, taps.inputs),
        fromBf16: dtype === 'BF16' ? 1 : 0,
        toBytes: precision === 'int8' ? 1 : 0,
        forDigits: asDigits ? 1 : 0,
        panel: address + panel * panelBytes,
        scales: scales + first * 4,
      })
      runtime.kernels.packIntegers(descriptor)
    }
    const integers = { ...taps, scales, inputLimit: format.inputLimit, asDigits }
    const panelFormat = asDigits ? 'i8DigitPanels' : panelFormats[precision]
    return { outputs, inputs, format: formatCodes[panelFormat], address, panels, integers }
  } finally {
    runtime.free(descriptor)
    runtime.free(staging)
  }
}

const panelFormats = { int8: 'i8Panels', int16: 'i16Panels' } as const

const checkTap = (format: IntegerFormat, inputs: number, what: string): void => {
  if (sumLimit(format, inputs) > 0) return
  throw new KernelError('shape', `${what}: ${inputs} inputs are too many for one sum of integers`)
}
