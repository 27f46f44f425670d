import { type Addressing, rowStart } from '../addressing.ts'
import type { Capabilities } from '../capabilities.ts'
import { Bindings } from '../program.ts'
import { bindNorm, declareNorm, type RowNorm } from './norm.ts'
import { computeStatistics, declareStatistics } from './norm-statistics.ts'
import type { Kernel } from './product.ts'
import { enableSubgroups } from './reduction.ts'
import { tensorRows } from './row-source.ts'

const threads = 128

export interface LayerNormSpec {
  readonly name: string
  /** Rows of all lanes. */
  readonly rows: number
  readonly x: Addressing
  readonly norm: RowNorm
  readonly out: Addressing
}

/** A LayerNorm whose result is wanted as it is; one that a linear layer follows is computed there. A workgroup a row. */
export const layerNormKernel = (
  { name, rows, x, norm, out }: LayerNormSpec,
  capabilities: Capabilities,
): Kernel => {
  const { columns } = x
  const reach = Math.ceil(columns / 4) * 4
  const source = tensorRows(x, reach)
  const statistics = { rows: 1, columns, threads, eps: norm.eps }
  const bindings = new Bindings()
  source.bind(bindings)
  bindNorm(bindings, norm, columns)
  bindings.add('out', 'f32', 'read_write')
  const code = `${enableSubgroups(capabilities)}${bindings.declarations}${source.declarations}${declareStatistics(capabilities, statistics)}${declareNorm(norm, columns, reach)}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let first_row = workgroup.x;
${computeStatistics(statistics, rows - 1, source.prepare, source.load)}
  ${source.prepare('own', 'first_row')}
  for (var k = 4u * thread; k < ${columns}u; k += ${4 * threads}u) {
    let value = normalise(first_row, k, ${source.load('own', 'k')}, statistics[0]);
    for (var i = 0u; i < min(4u, ${columns}u - k); i++) { out[${rowStart(out, 'first_row')} + k + i] = value[i]; }
  }
}
`
  return { program: { name, source: code, bindings: bindings.list }, groups: [rows, 1, 1] }
}
