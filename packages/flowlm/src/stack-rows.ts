import { type StoredWeight, widenedWeight } from '@pocket/nn'

/** Weights `[rows, columns]` of one width below each other, in their stored form where they share one, else as F32. */
export const stackRows = (weights: readonly StoredWeight[]): StoredWeight => {
  const [first] = weights
  const shared = weights.every((weight) => weight.dtype === first?.dtype) ? first?.dtype : undefined
  const parts = weights.map((weight) => (shared ? weight.bytes : bytesOf(widenedWeight(weight))))
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  const rows = weights.reduce((sum, weight) => sum + (weight.shape[0] ?? 0), 0)
  return { dtype: shared ?? 'F32', shape: [rows, first?.shape[1] ?? 0], bytes }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
