/**
 * An array with a shape, in the very form of the `ndarray` package, so that
 * `ndarray(a.data, a.shape, a.stride, a.offset)` is free. Element `[i, j]` is
 * `data[offset + i * stride[0] + j * stride[1]]`.
 */
export interface NdArray<T extends ArrayLike<number | bigint> = Float32Array> {
  readonly data: T
  readonly shape: number[]
  readonly stride: number[]
  readonly offset: number
}

/** Wraps row-major data, not copied. The caller states that `data` holds as many values as `shape`. */
export const rowMajor = <T extends ArrayLike<number | bigint>>(
  data: T,
  shape: readonly number[],
): NdArray<T> => {
  const stride = new Array<number>(shape.length)
  let step = 1
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    stride[axis] = step
    step *= shape[axis] ?? 0
  }
  return { data, shape: [...shape], stride, offset: 0 }
}
