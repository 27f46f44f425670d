import { greatestMagnitude, leastMagnitude, nearestInteger } from '@pocket/nn'
import {
  type IntegerFormat,
  type IntegerPrecision,
  type IntegerTaps,
  integerFormats,
  sumLimit,
} from '../integers.ts'

/** Weights as integers: `[outputs, inputs]` in `values`, and what each output's are multiples of. */
export interface IntegerWeights {
  readonly values: Float32Array
  readonly integers: {
    /** `[outputs]` */
    readonly scales: Float32Array
    /** The greatest value of a quantised row. */
    readonly inputLimit: number
  }
}

/**
 * Quantises weights `[outputs, inputs]`. Every step is rounded to float32 where the kernels round: both have the same
 * integers and scales.
 */
export const quantizeWeights = (
  weights: Float32Array,
  outputs: number,
  taps: IntegerTaps,
  precision: IntegerPrecision,
): IntegerWeights => {
  const format = integerFormats[precision]
  const inputs = weights.length / outputs
  const values = new Float32Array(weights.length)
  const scales = new Float32Array(outputs)
  for (let o = 0; o < outputs; o++) {
    const row = weights.subarray(o * inputs, (o + 1) * inputs)
    const scale = weightScale(row, taps, format)
    scales[o] = scale
    if (scale > 0)
      values.set(
        row.map((weight) => nearestInteger(Math.fround(weight / scale))),
        o * inputs,
      )
  }
  return { values, integers: { scales, inputLimit: format.inputLimit } }
}

const weightScale = (
  row: Float32Array,
  { tapColumns, inputs }: IntegerTaps,
  format: IntegerFormat,
): number => {
  const greatest = greatestMagnitude(row)
  if (greatest < leastMagnitude) return 0
  let largestSum = 0
  for (let begin = 0; begin < row.length; begin += tapColumns) {
    const sum = row.subarray(begin, begin + tapColumns).reduce((total, weight) => total + Math.abs(weight), 0)
    largestSum = Math.max(largestSum, sum)
  }
  const limits = [greatest / format.weightLimit, largestSum / sumLimit(format, inputs)]
  return Math.max(...limits.map(Math.fround))
}

/** A row of x as integers: `row ≈ values · scale`. */
export const quantizeRow = (row: Float32Array, limit: number): { values: Float32Array; scale: number } => {
  const greatest = greatestMagnitude(row)
  if (greatest < leastMagnitude) return { values: new Float32Array(row.length), scale: 0 }
  const inverse = Math.fround(limit / greatest)
  const values = row.map((value) => nearestInteger(Math.fround(value * inverse)))
  return { values, scale: Math.fround(greatest / limit) }
}
