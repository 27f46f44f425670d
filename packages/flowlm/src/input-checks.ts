import { FlowLmError } from './errors.ts'

/**
 * Refuses values of a wrong number and values that are not finite: one NaN would stay in a KV cache and silence
 * every frame after it.
 */
export const checkValues = (what: string, values: Float32Array, length: number): void => {
  if (!ArrayBuffer.isView(values) || values.length !== length) {
    const found = ArrayBuffer.isView(values) ? `${values.length} values` : String(values)
    throw new FlowLmError('input', `${what}: ${found} given, expected a Float32Array of ${length}`)
  }
  const index = values.findIndex((value) => !Number.isFinite(value))
  if (index >= 0)
    throw new FlowLmError('input', `${what}: value ${index} is ${values[index]}, expected finite numbers`)
}

/** Refuses a count that is no whole number from 1 (or `least`) on. */
export const checkCount = (what: string, count: number, least = 1): void => {
  if (Number.isSafeInteger(count) && count >= least) return
  throw new FlowLmError('input', `${what} is ${count}, expected a whole number of at least ${least}`)
}
