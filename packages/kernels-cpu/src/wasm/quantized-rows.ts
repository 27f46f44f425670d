import type { Binding, Rows } from './binding.ts'
import { quantization, writeDescriptor } from './descriptors.ts'
import type { Work } from './program.ts'

/** Rows of float32 that become rows of integers. */
export interface QuantizationSource {
  readonly x: Rows
  readonly rows: number
  readonly columns: number
  /** The same in whole fours, zeros at the end. */
  readonly paddedColumns: number
  /** The greatest integer. */
  readonly limit: number
  /** Whether two digits of seven bits, or integers of 16. */
  readonly asDigits: boolean
  /** An address with room for `quantizedLength` values. */
  readonly to: number
}

export interface QuantizedRows {
  readonly rows: Rows
  readonly scales: Rows
  readonly work: readonly Work[]
  readonly nextDescriptor: number
}

/** Describes at `descriptor` how rows become integers. */
export const bindQuantization = (
  { runtime }: Binding,
  descriptor: number,
  { x, rows, columns, paddedColumns, limit, asDigits, to }: QuantizationSource,
): QuantizedRows => {
  const address = to + scaleFloats(rows) * 4
  const nextDescriptor = writeDescriptor(runtime, descriptor, quantization, {
    x: x.address,
    xStride: x.stride,
    columns,
    paddedColumns,
    limit,
    asDigits: asDigits ? 1 : 0,
    out: address,
    scales: to,
  })
  return {
    rows: { address, stride: paddedColumns * 2 },
    scales: { address: to, stride: 4 },
    work: [{ kernel: 'quantize', descriptor, units: rows, load: rows * columns * loadOfQuantization }],
    nextDescriptor,
  }
}

/** A pass for the greatest value, and one that multiplies, rounds and narrows. */
export const loadOfQuantization = 4

/** Float32 values: the scales of the rows, then two integers to a value. */
export const quantizedLength = (rows: number, paddedColumns: number): number =>
  scaleFloats(rows) + (rows * paddedColumns) / 2

/** Whole cache lines, so that the integers begin on one. */
const scaleFloats = (rows: number): number => Math.ceil(rows / 16) * 16
