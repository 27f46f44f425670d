import type { Kernels, Matrix } from '@pocket/nn'

/**
 * `latent · std + mean` as a linear layer, so that it needs no operation of its own: the products with the zeros
 * beside the diagonal add nothing. `[latentDim, latentDim]`
 */
export const denormalization = (
  kernels: Pick<Kernels, 'matrix'>,
  mean: Float32Array,
  std: Float32Array,
): Matrix => {
  const size = std.length
  const diagonal = new Float32Array(size * size)
  std.forEach((value, index) => {
    diagonal[index * (size + 1)] = value
  })
  return kernels.matrix({
    weight: { dtype: 'F32', shape: [size, size], bytes: new Uint8Array(diagonal.buffer) },
    bias: mean,
    // Whatever the model's matrices are kept in: this is no weight of its own.
    precision: 'f32',
  })
}
