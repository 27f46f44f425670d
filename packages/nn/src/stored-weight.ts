import { bf16ToF32, f16ToF32 } from '@pocket/safetensors'
import type { StoredWeight, WeightDtype } from './weights.ts'

export const bytesPerWeight: Readonly<Record<WeightDtype, number>> = { F32: 4, BF16: 2, F16: 2 }

export const isWeightDtype = (dtype: string): dtype is WeightDtype => Object.hasOwn(bytesPerWeight, dtype)

/** As float32: a view where the bytes are float32 already and lie so that they can be read as such, else a copy. */
export const widenedWeight = ({ dtype, bytes }: Pick<StoredWeight, 'dtype' | 'bytes'>): Float32Array => {
  switch (dtype) {
    case 'BF16':
      return bf16ToF32(bytes)
    case 'F16':
      return f16ToF32(bytes)
    case 'F32': {
      const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
      return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4)
    }
    default:
      return dtype satisfies never
  }
}

/** The same weight for executors that have no kernels for float16, which is then widened. */
export const withoutF16 = (weight: StoredWeight): StoredWeight<'F32' | 'BF16'> => {
  const { dtype, shape, bytes } = weight
  if (dtype !== 'F16') return { dtype, shape, bytes }
  return { dtype: 'F32', shape, bytes: new Uint8Array(f16ToF32(bytes).buffer) }
}
