import { type Addressing, rowStart } from '../addressing.ts'
import { Bindings } from '../program.ts'
import { declareActivations } from './activations.ts'
import type { Kernel } from './product.ts'
import { keepHistory, type Windows, windowRows } from './row-source.ts'

const threads = 64

export interface DepthwiseSpec {
  readonly name: string
  /** Of the input, its kernel being `kernel / stride` steps of x. */
  readonly windows: Windows
  /** Output rows for a row of x. */
  readonly stride: number
  readonly bias: boolean
  readonly out: Addressing
}

/** A transposed convolution that filters every channel on its own: a thread per output, filters `[kernel, channels]`. */
export const depthwiseKernel = ({ name, windows, stride, bias, out }: DepthwiseSpec): Kernel => {
  const { lanes, x, kernel: taps, history } = windows
  const channels = x.columns
  const each = x.rows * stride * channels
  const groups = Math.ceil((lanes * each) / threads)
  const keeps = history > 0
  const bindings = new Bindings()
  const source = windowRows(windows, taps * channels)
  bindings.add('filters', 'f32')
  source.bind(bindings)
  if (bias) bindings.add('terms', 'f32')
  bindings.add('out', 'f32', 'read_write')
  const vectorial = bindings.declarations.includes(' x: array<vec4f>')
  const past = keeps ? 'past_of(lane), ' : ''
  const value = (row: string): string =>
    vectorial
      ? `row_value(lane, ${past}${row}, channel / 4u * 4u)[channel % 4u]`
      : `row_value(lane, ${past}${row}, channel)`
  const code = `${bindings.declarations}${declareActivations(source.activation)}${source.declarations}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
${
  keeps
    ? `  if (workgroup.y == 1u) {
    ${keepHistory(windows, `${groups * threads}u`, `workgroup.x * ${threads}u + thread`)}
    return;
  }
`
    : ''
}  let i = workgroup.x * ${threads}u + thread;
  if (i >= ${lanes * each}u) { return; }
  let channel = i % ${channels}u;
  let row = i / ${channels}u;
  let lane = row / ${x.rows * stride}u;
  let time = row % ${x.rows * stride}u;
  var sum = ${bias ? 'terms[channel]' : '0.0'};
  for (var tap = 0u; tap < ${taps}u; tap++) {
    let own = filters[(tap * ${stride}u + time % ${stride}u) * ${channels}u + channel];
    sum += own * ${value(`time / ${stride}u + ${taps - 1}u - tap`)};
  }
  out[${rowStart(out, 'row')} + channel] = sum;
}
`
  return {
    program: { name, source: code, bindings: bindings.list },
    groups: [groups, keeps ? 2 : 1, 1],
  }
}
