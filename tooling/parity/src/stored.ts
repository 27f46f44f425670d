import type { StoredWeight } from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'
import { noise } from '@tooling/fixtures'

/** A weight of noise, as a checkpoint stores it. */
export const stored = (shape: number[], seed: number, dtype: StoredWeight['dtype']): StoredWeight => {
  const values = noise(
    shape.reduce((product, size) => product * size, 1),
    seed,
  )
  return { dtype, shape, bytes: new Uint8Array(encode[dtype](values).buffer) }
}

const encode: Record<StoredWeight['dtype'], (values: Float32Array) => ArrayBufferView> = {
  F32: (values) => values,
  BF16: f32ToBf16,
  F16: (values) => new Float16Array(values),
}
