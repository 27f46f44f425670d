/** How numbers become integers, the same in every executor: `value ≈ integer · scale`, no offset. */

/**
 * Rows, and weights of an output, none of which is as large as this count as zeros: from 2⁻¹¹¹ on, a scale and its
 * inverse are normal float32 numbers.
 */
export const leastMagnitude = 2 ** -111

/** NaN where there is one. */
export const greatestMagnitude = (values: Float32Array): number => {
  let greatest = 0
  for (let i = 0; i < values.length; i++) greatest = Math.max(greatest, Math.abs(values[i] ?? 0))
  return greatest
}

/** Above 2⁵² numbers have no fractions: adding this leaves none, and takes ties to even. */
const withoutFraction = 1.5 * 2 ** 52

/** To the nearest, ties to even, of numbers below 2⁵¹; what is no number is 0, and shows in the scale. */
export const nearestInteger = (value: number): number =>
  Number.isFinite(value) ? value + withoutFraction - withoutFraction : 0
