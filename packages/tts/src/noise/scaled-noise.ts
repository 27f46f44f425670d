import { PocketTtsError } from '../errors.ts'
import { invalidOption } from '../option-checks.ts'
import type { NoiseSource } from './noise-source.ts'

/** Below this share of √temperature nearly every value would be drawn again. */
const SMALLEST_CLAMP = 1e-3

/** At the smallest clamp a unit normal is refused this often in a row with a chance of 1 in 10³⁴. */
const MOST_REFUSED_IN_A_ROW = 100_000

/**
 * Rows of N(0, temperature), as the flow head wants them: unit normals times √temperature, in float32.
 * With a clamp, values beyond ±clamp are left out and the values after them move up, so that rows do not
 * depend on how many values are asked for at a time.
 *
 * @param temperature at least 0; at 0 every value is 0, and the source is drawn from all the same
 * @param clamp above 0, at least √temperature / 1000; absent for none
 * @throws PocketTtsError `invalid-option` for a temperature or clamp out of range, and from `next` when the
 * source gives rows of another length, NaN or infinite values, or nothing within the clamp
 */
export const scaledNoise = (source: NoiseSource, temperature: number, clamp?: number): NoiseSource => {
  if (typeof temperature !== 'number' || !(temperature >= 0 && temperature < Number.POSITIVE_INFINITY)) {
    throw invalidOption('temperature', temperature, 'a finite number of at least 0')
  }
  const scale = Math.fround(Math.sqrt(temperature))
  const scaled = { next: (length: number) => scaledRow(source, length, scale) }
  if (clamp === undefined) return scaled
  const smallest = scale * SMALLEST_CLAMP
  if (typeof clamp !== 'number' || !(clamp > 0 && clamp >= smallest)) {
    throw invalidOption(
      'noiseClamp',
      clamp,
      `a number above 0 and at least ${smallest} (√temperature / 1000)`,
    )
  }
  return { next: (length) => clampedRow(scaled, length, clamp) }
}

const scaledRow = (source: NoiseSource, length: number, scale: number): Float32Array => {
  const row: Float32Array | undefined = source.next(length)
  if (row?.length !== length) {
    throw new PocketTtsError(
      'invalid-option',
      `noise: asked for ${length} values, the source gave ${row?.length ?? 'none'}`,
    )
  }
  return Float32Array.from(row, (value) => {
    if (!Number.isFinite(value)) throw new PocketTtsError('invalid-option', `noise: the source gave ${value}`)
    return value * scale
  })
}

const clampedRow = (scaled: NoiseSource, length: number, clamp: number): Float32Array => {
  const row = new Float32Array(length)
  let filled = 0
  let refusedInARow = 0
  while (filled < length) {
    for (const value of scaled.next(length - filled)) {
      if (Math.abs(value) <= clamp) {
        row[filled++] = value
        refusedInARow = 0
      } else if (++refusedInARow > MOST_REFUSED_IN_A_ROW) {
        throw new PocketTtsError('invalid-option', `noise: no value of the source lies within ±${clamp}`)
      }
    }
  }
  return row
}
