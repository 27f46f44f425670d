import type { Dtype } from './dtype.ts'
import { quote, SafeTensorsError } from './error.ts'
import { bf16ToF32, f16ToF32 } from './half-precision.ts'
import { aligned, allocate } from './memory.ts'

const viewF32 = (bytes: Uint8Array): Float32Array => {
  const { buffer, byteOffset, length } = aligned(bytes, 4)
  return new Float32Array(buffer, byteOffset, length / 4)
}

const roundF64 = (bytes: Uint8Array): Float32Array => {
  const { buffer, byteOffset, length } = aligned(bytes, 8)
  const rounded = new Float32Array(allocate(length / 2))
  rounded.set(new Float64Array(buffer, byteOffset, length / 8))
  return rounded
}

const viewI64 = (bytes: Uint8Array): BigInt64Array => {
  const { buffer, byteOffset, length } = aligned(bytes, 8)
  return new BigInt64Array(buffer, byteOffset, length / 8)
}

const toF32: Partial<Record<Dtype, (bytes: Uint8Array) => Float32Array>> = {
  F32: viewF32,
  BF16: bf16ToF32,
  F16: f16ToF32,
  F64: roundF64,
}

/**
 * What makes float32 of a tensor's bytes: a view of them where they are aligned F32, otherwise a copy.
 * Throws `unsupported-dtype` before there is anything to convert.
 */
export const f32Conversion = (dtype: Dtype, name: string): ((bytes: Uint8Array) => Float32Array) => {
  const conversion = toF32[dtype]
  if (conversion) return conversion
  throw new SafeTensorsError(
    'unsupported-dtype',
    `tensor ${quote(name)} is ${dtype}: f32() reads F32, BF16, F16 and F64; bytes() reads everything`,
  )
}

/** The same for 64-bit integers. */
export const i64Conversion = (dtype: Dtype, name: string): ((bytes: Uint8Array) => BigInt64Array) => {
  if (dtype === 'I64') return viewI64
  throw new SafeTensorsError(
    'unsupported-dtype',
    `tensor ${quote(name)} is ${dtype}: i64() reads I64; bytes() reads everything`,
  )
}
