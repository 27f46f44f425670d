import type { StoredWeight } from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'
import { noise } from '@tooling/fixtures'

/** A weight of noise, as a checkpoint stores it. */
export const stored = (shape: number[], seed: number, dtype: StoredWeight['dtype']): StoredWeight => {
  const values = noise(
    shape.reduce((product, size) => product * size, 1),
    seed,
  )
  const bytes = dtype === 'F32' ? new Uint8Array(values.buffer) : new Uint8Array(f32ToBf16(values).buffer)
  return { dtype, shape, bytes }
}
