import { bindingAlignment } from './constants.ts'

/** Where a tensor of a plan lies. Counted in float32 values; every lane has its own copy. */
export interface Place {
  readonly buffer: GPUBuffer
  /** The first value of lane 0. */
  readonly offset: number
  readonly rowStride: number
  readonly laneStride: number
  readonly rows: number
  readonly columns: number
}

/** How a kernel finds the values of a bound tensor: part of its source, so equal shapes share pipelines. */
export interface Addressing {
  /** The first value, counted from where the binding begins: what its alignment leaves over. */
  readonly first: number
  readonly rowStride: number
  readonly laneStride: number
  readonly rows: number
  readonly columns: number
}

const alignedValues = bindingAlignment / 4

export const addressing = ({ offset, rowStride, laneStride, rows, columns }: Place): Addressing => ({
  first: offset % alignedValues,
  rowStride,
  laneStride,
  rows,
  columns,
})

/** The stretch of the buffer to bind: from the last aligned place before the first value. */
export const bindingOf = ({ buffer, offset }: Place): GPUBufferBinding => ({
  buffer,
  offset: (offset - (offset % alignedValues)) * 4,
})

/** WGSL for the index of the first value of a row, `row` counting through the rows of all lanes. */
export const rowStart = (place: Addressing, row: string): string => {
  const { first, rowStride, laneStride, rows } = place
  if (laneStride === rows * rowStride) return `(${row}) * ${rowStride}u + ${first}u`
  if (rows === 1) return `(${row}) * ${laneStride}u + ${first}u`
  return `((${row}) / ${rows}u) * ${laneStride}u + ((${row}) % ${rows}u) * ${rowStride}u + ${first}u`
}

/** Whether rows can be read four values at a time. */
export const isVectorial = ({ first, rowStride, laneStride, columns }: Addressing): boolean =>
  [first, rowStride, laneStride, columns].every((count) => count % 4 === 0)
