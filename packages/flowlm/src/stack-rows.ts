import type { StoredWeight } from '@pocket/nn'
import { bf16ToF32 } from '@pocket/safetensors'

/** Weights `[rows, columns]` of one width below each other, in their stored form where they share one, else as F32. */
export const stackRows = (weights: readonly StoredWeight[]): StoredWeight => {
  const dtype = weights.every((weight) => weight.dtype === 'BF16') ? 'BF16' : 'F32'
  const parts = weights.map((weight) => (weight.dtype === dtype ? weight.bytes : widen(weight.bytes)))
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  const rows = weights.reduce((sum, weight) => sum + (weight.shape[0] ?? 0), 0)
  return { dtype, shape: [rows, weights[0]?.shape[1] ?? 0], bytes }
}

const widen = (bf16: Uint8Array): Uint8Array => new Uint8Array(bf16ToF32(bf16).buffer)
