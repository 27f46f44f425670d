import type { StoredWeight } from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'

/** Values of order one, by a hash of the seed and the index: equal on all sides, and quick to make. */
export const noise = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => {
    let x = Math.imul(index + 1, 0x9e3779b9) ^ Math.imul(seed + 1, 0x85ebca6b)
    x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d)
    x = Math.imul(x ^ (x >>> 12), 0x297a2d39)
    return ((x ^ (x >>> 15)) >>> 8) * 2 ** -23 - 1
  })

export const stored = (shape: number[], seed: number, dtype: StoredWeight['dtype']): StoredWeight => {
  const values = noise(
    shape.reduce((product, size) => product * size, 1),
    seed,
  )
  const bytes = dtype === 'F32' ? new Uint8Array(values.buffer) : new Uint8Array(f32ToBf16(values).buffer)
  return { dtype, shape, bytes }
}
