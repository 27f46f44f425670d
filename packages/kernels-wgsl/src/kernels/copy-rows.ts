import { Bindings, type Program } from '../program.ts'

const threads = 64

/** Rows of vectors of four float32, at places that the host tells with each copy: one kernel for every cache. */
export interface RowCopy {
  readonly rows: number
  /** Vectors of a row. */
  readonly length: number
  /** Vectors from one row to the next where they come from, from the first on. */
  readonly sourceStride: number
  /** Where the first row goes, and vectors from there to the next. */
  readonly targetOffset: number
  readonly targetStride: number
}

/** Words of a copy. */
export const copyWords = ({ length, sourceStride, targetOffset, targetStride }: RowCopy): number[] => [
  length,
  sourceStride,
  targetOffset,
  targetStride,
]

export const copyGroups = ({ length, rows }: RowCopy): [number, number, number] => [
  Math.ceil(length / threads),
  rows,
  1,
]

const bindings = new Bindings()
bindings.add('control', 'u32', 'control')
bindings.add('source', 'vec4f')
bindings.add('out', 'vec4f', 'read_write')

export const copyRows: Program = {
  name: 'copy of rows',
  bindings: bindings.list,
  source: `${bindings.declarations}
@compute @workgroup_size(${threads})
fn main(@builtin(global_invocation_id) at: vec3u) {
  if (at.x >= control[0]) { return; }
  out[control[2] + at.y * control[3] + at.x] = source[at.y * control[1] + at.x];
}
`,
}
