import type { Activation } from '@pocket/nn'
import { type Addressing, rowStart } from '../addressing.ts'
import { Bindings } from '../program.ts'
import { activated, declareActivations } from './activations.ts'
import type { Kernel } from './product.ts'

const threads = 64

export interface AddVectorSpec {
  readonly name: string
  /** Rows of all lanes. */
  readonly rows: number
  readonly x: Addressing
  readonly activation: Activation
  readonly out: Addressing
}

/** `activation(x + vector)`, where no linear layer before it does so itself. */
export const addVectorKernel = ({ name, rows, x, activation, out }: AddVectorSpec): Kernel => {
  const bindings = new Bindings()
  bindings.add('x', 'f32')
  bindings.add('addend', 'f32')
  bindings.add('out', 'f32', 'read_write')
  const source = `${bindings.declarations}${declareActivations(activation)}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.y;
  let column = workgroup.x * ${threads}u + thread;
  if (column >= ${x.columns}u) { return; }
  let value = x[${rowStart(x, 'row')} + column] + addend[column];
  out[${rowStart(out, 'row')} + column] = ${activated(activation, 'value')};
}
`
  return {
    program: { name, source, bindings: bindings.list },
    groups: [Math.ceil(x.columns / threads), rows, 1],
  }
}
