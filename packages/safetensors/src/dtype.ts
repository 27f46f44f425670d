import { quote, SafeTensorsError } from './error.ts'

/**
 * Every dtype of the format, in the order of the reference library's enumeration (safetensors 0.8,
 * `safetensors/src/tensor.rs`). Its writer lays tensors out by that order, backwards, so the order is data.
 *
 * `bits` is the size of one element. `arrays` are the typed arrays that hold such elements one to one;
 * a dtype without any is handed around as raw bytes.
 */
const dtypes = {
  BOOL: { bits: 8, arrays: [] },
  F4: { bits: 4, arrays: [] },
  F6_E2M3: { bits: 6, arrays: [] },
  F6_E3M2: { bits: 6, arrays: [] },
  U8: { bits: 8, arrays: [] },
  I8: { bits: 8, arrays: ['Int8Array'] },
  F8_E5M2: { bits: 8, arrays: [] },
  F8_E4M3: { bits: 8, arrays: [] },
  F8_E8M0: { bits: 8, arrays: [] },
  F8_E4M3FNUZ: { bits: 8, arrays: [] },
  F8_E5M2FNUZ: { bits: 8, arrays: [] },
  I16: { bits: 16, arrays: ['Int16Array'] },
  U16: { bits: 16, arrays: ['Uint16Array'] },
  F16: { bits: 16, arrays: ['Uint16Array', 'Float16Array'] },
  BF16: { bits: 16, arrays: ['Uint16Array'] },
  I32: { bits: 32, arrays: ['Int32Array'] },
  U32: { bits: 32, arrays: ['Uint32Array'] },
  F32: { bits: 32, arrays: ['Float32Array'] },
  C64: { bits: 64, arrays: ['Float32Array'] },
  F64: { bits: 64, arrays: ['Float64Array'] },
  I64: { bits: 64, arrays: ['BigInt64Array'] },
  U64: { bits: 64, arrays: ['BigUint64Array'] },
} as const satisfies Record<string, { bits: number; arrays: readonly string[] }>

/**
 * The element type of a tensor, as the header spells it. `BF16` is the upper half of an `F32`; `C64` is two
 * `F32`, real and imaginary; `F4` and the `F6` types are packed without gaps, so that such a tensor must fill
 * whole bytes.
 */
export type Dtype = keyof typeof dtypes

const names = Object.keys(dtypes) as Dtype[]

const isDtype = (text: string): text is Dtype => Object.hasOwn(dtypes, text)

/** Throws `unknown-dtype` unless `text` names one. */
export const asDtype = (text: string, where: string): Dtype => {
  if (isDtype(text)) return text
  throw new SafeTensorsError(
    'unknown-dtype',
    `${where} has the dtype ${quote(String(text))}: expected one of ${names.join(', ')}`,
  )
}

/** The place of a dtype in the reference library's order: the larger, the earlier its tensors are written. */
export const dtypeRank = (dtype: Dtype): number => names.indexOf(dtype)

/** The typed arrays whose elements are elements of the dtype. */
export const arraysOf = (dtype: Dtype): readonly string[] => dtypes[dtype].arrays

/**
 * How many bytes a tensor takes. The sizes must be whole numbers that are not negative.
 * Throws `invalid-shape` where the count is past 2^53, and where a sub-byte dtype does not fill whole bytes.
 */
export const byteLengthOf = (dtype: Dtype, shape: readonly number[], where: string): number => {
  const { bits } = dtypes[dtype]
  // Zeros are left out of the product: a shape such as [0, 2^40, 2^40] has strides past 2^53 all the same.
  let total: number = bits
  for (const size of shape) {
    if (size !== 0) total *= size
    if (total > Number.MAX_SAFE_INTEGER) {
      throw new SafeTensorsError(
        'invalid-shape',
        `${where} has the shape [${shape.join(', ')}] of ${dtype}: expected at most 2^53 bits`,
      )
    }
  }
  if (shape.includes(0)) return 0
  if (total % 8 !== 0) {
    throw new SafeTensorsError(
      'invalid-shape',
      `${where} has the shape [${shape.join(', ')}] of ${dtype}, ${total} bits: expected whole bytes`,
    )
  }
  return total / 8
}
