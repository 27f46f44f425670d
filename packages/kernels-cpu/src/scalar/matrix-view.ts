import type { Layout, Tensor } from '@pocket/nn'

/** A tensor in a plan's memory: element (r, c) is `data[offset + r · stride + c]`. */
export interface MatrixView {
  readonly data: Float32Array
  readonly rows: number
  readonly columns: number
  readonly offset: number
  readonly stride: number
}

export const matrixView = (memory: Float32Array, layout: Layout, tensor: Tensor): MatrixView => {
  const { offset, rowStride } = layout.place(tensor)
  return { data: memory, rows: tensor.rows, columns: tensor.columns, offset, stride: rowStride }
}

export const get = (view: MatrixView, row: number, column: number): number =>
  view.data[view.offset + row * view.stride + column]!

export const set = (view: MatrixView, row: number, column: number, value: number): void => {
  view.data[view.offset + row * view.stride + column] = value
}

/** One row as a view of the plan's memory. */
export const rowOf = ({ data, offset, stride, columns }: MatrixView, row: number): Float32Array =>
  data.subarray(offset + row * stride, offset + row * stride + columns)
