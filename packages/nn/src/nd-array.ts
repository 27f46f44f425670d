import type { NdArray } from '@pocket/safetensors'

/** `data` as a row-major array of `shape`, in the form of the `ndarray` package; nothing is copied. */
export const ndArray = <Data extends { readonly length: number }>(
  data: Data,
  shape: readonly number[],
): NdArray<Data> => {
  const stride = new Array<number>(shape.length)
  let step = 1
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    stride[axis] = step
    step *= shape[axis] ?? 1
  }
  if (step !== data.length) throw new RangeError(`${data.length} values do not fill [${shape.join(', ')}]`)
  return { data, shape: [...shape], stride, offset: 0 }
}
