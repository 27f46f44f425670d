/** A linear layer on the host, for the little that is computed once. */
export interface DenseLayer {
  /** `[outputs, inputs]` */
  readonly weight: Float32Array
  /** `[outputs]` */
  readonly bias: Float32Array
}

/** `W x + b`, in double precision. */
export const dense = ({ weight, bias }: DenseLayer, x: Float64Array): Float64Array =>
  Float64Array.from(bias, (b, output) => {
    const row = weight.subarray(output * x.length, (output + 1) * x.length)
    return row.reduce((sum, w, input) => sum + w * (x[input] ?? Number.NaN), b)
  })

export const silu = (x: number): number => x / (1 + Math.exp(-x))
