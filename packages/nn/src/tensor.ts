import { KernelError } from './errors.ts'

/**
 * A value of a plan: `[rows, columns]` of float32, time by features. It is a place, not data: an executor decides
 * where it lies. Views share the memory of their base: element (r, c) of a tensor is element
 * (rowOffset + r, columnOffset + c) of its base.
 */
export interface Tensor {
  readonly rows: number
  readonly columns: number
  /** The tensor that owns the memory: itself, unless this is a view. */
  readonly base: Tensor
  readonly rowOffset: number
  readonly columnOffset: number
}

export const newTensor = (rows: number, columns: number): Tensor => {
  if (!isSize(rows) || !isSize(columns)) throw new KernelError('shape', `a tensor of [${rows}, ${columns}]`)
  const out = { rows, columns, rowOffset: 0, columnOffset: 0 } as { -readonly [K in keyof Tensor]: Tensor[K] }
  out.base = out
  return out
}

const isSize = (size: number): boolean => Number.isSafeInteger(size) && size > 0

export const isTensor = (value: unknown): value is Tensor =>
  typeof value === 'object' && value !== null && 'base' in value
