/** Values of order one, others for every seed. */
export const noise = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => Math.sin(7.3 * index + 1.7 * seed + 0.1 * index * seed))

/** A weight whose products with values of order one are of that order, too: chains of them neither grow nor vanish. */
export const stored = (shape: number[], seed: number) => {
  const length = shape.reduce((product, size) => product * size, 1)
  const values = noise(length, seed).map((value) => value / Math.sqrt(shape[1] ?? 1))
  return { dtype: 'F32' as const, shape, bytes: new Uint8Array(values.buffer) }
}
