import { type Addressing, isVectorial, rowStart } from '../addressing.ts'
import type { Capabilities } from '../capabilities.ts'
import { Bindings } from '../program.ts'
import type { Kernel } from './product.ts'
import { declareReduction, enableSubgroups } from './reduction.ts'

export interface AttentionSpec {
  readonly name: string
  readonly lanes: number
  /** Rows of a lane. */
  readonly rows: number
  readonly heads: number
  readonly headDim: number
  readonly window: number | undefined
  readonly qkv: Addressing
  readonly out: Addressing
}

/**
 * Words of a lane in an attention's control block: position, lane of the state, whether it is active, and the cache's
 * capacity, which is no part of the source: caches of all sizes share their kernels.
 */
export const controlWords = 4

/** Positions whose scores are held at a time: 4 KiB. More are taken in turns, each rescaling what came before. */
const mostScores = 1024

/**
 * Attention of the rows of one run over what a cache holds and over themselves, in one dispatch: a workgroup for each
 * head, row and lane. Keys and values of this run are taken from `qkv` and not from the cache, so that nobody waits for
 * the workgroups that write them there. A ring has `window + rows` slots or more: what is overwritten is in no window.
 *
 * Keys lie as `[lane, head, headDim / 4, slot, 4]`, so that threads side by side read positions side by side; values as
 * `[lane, head, slot, headDim]`. Both are padded to whole vectors.
 */
export const attentionKernel = (spec: AttentionSpec, capabilities: Capabilities): Kernel => {
  const bindings = new Bindings()
  bindings.add('qkv', isVectorial(spec.qkv) && spec.headDim % 4 === 0 ? 'vec4f' : 'f32')
  bindings.add('keys', 'vec4f', 'read_write')
  bindings.add('values', 'vec4f', 'read_write')
  bindings.add('control', 'u32', 'control')
  bindings.add('out', 'f32', 'read_write')
  const threads = threadsFor(spec, capabilities.tuning.threads)
  const greatest = { name: 'greatest', operation: 'max', threads, group: threads } as const
  const sum = { name: 'sum', operation: 'add', threads, group: threads } as const
  const vectors = vectorsOf(spec.headDim)
  const source = `${enableSubgroups(capabilities)}${bindings.declarations}
${declareReduction(capabilities, greatest)}${declareReduction(capabilities, sum)}
var<workgroup> query: array<vec4f, ${vectors}>;
var<workgroup> scores: array<f32, ${scoresOf(spec)}>;
var<workgroup> sums: array<vec4f, ${threads}>;
${declareRows(spec)}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
${main({ spec, threads, unroll: capabilities.tuning.unroll > 1 })}}
`
  return {
    program: { name: spec.name, source, bindings: bindings.list },
    groups: [spec.heads, spec.rows, spec.lanes],
  }
}

/** Vectors of a head. */
export const vectorsOf = (headDim: number): number => Math.ceil(headDim / 4)

const scoresOf = ({ window = mostScores }: AttentionSpec): number =>
  Math.min(mostScores, Math.ceil(window / 64) * 64)

/** A thread for a vector of the head at least; no more than there are positions to look at, roughly. */
const threadsFor = (spec: AttentionSpec, busy: number): number => {
  const vectors = vectorsOf(spec.headDim)
  const wanted = Math.max(vectors, scoresOf(spec) >= 256 && busy > 64 ? 256 : 64)
  return Math.min(256, 2 ** Math.ceil(Math.log2(wanted)))
}

/**
 * `vector_of(part, row, head, i)` reads four values of q, k or v (part 0, 1, 2) of a row; `turned` also rotates them to
 * the row's position.
 */
const declareRows = ({ heads, headDim, qkv, rows, lanes }: AttentionSpec): string => {
  const width = heads * headDim
  const whole = isVectorial(qkv) && headDim % 4 === 0
  const start = `${rowStart(qkv, 'row')} + part * ${width}u + head * ${headDim}u + 4u * i`
  const read = whole
    ? `  return qkv[(${start}) / 4u];`
    : `  var value = vec4f();
  for (var c = 0u; c < 4u; c++) { if (4u * i + c < ${headDim}u) { value[c] = qkv[${start} + c]; } }
  return value;`
  // Cosine and sine of each pair; a last half vector reads the next row's, which multiply zeros.
  const rotations = `${controlWords * lanes}u + row * ${headDim}u + 4u * i`
  return `fn vector_of(part: u32, row: u32, head: u32, i: u32) -> vec4f {
${read}
}
fn turned(part: u32, row: u32, head: u32, i: u32) -> vec4f {
  let raw = vector_of(part, row, head, i);
  let at = ${rotations};
  let first = bitcast<vec2f>(vec2u(control[at], control[at + 1u]));
  let second = bitcast<vec2f>(vec2u(control[at + 2u], control[at + 3u]));
  return vec4f(
    raw.x * first.x - raw.y * first.y, raw.x * first.y + raw.y * first.x,
    raw.z * second.x - raw.w * second.y, raw.z * second.y + raw.w * second.x,
  );
}
const rows = ${rows}u;
`
}

const main = ({
  spec,
  threads,
  unroll,
}: {
  spec: AttentionSpec
  threads: number
  unroll: boolean
}): string => {
  const { heads, headDim, window, out } = spec
  const vectors = vectorsOf(headDim)
  const held = scoresOf(spec)
  const walkers = Math.floor(threads / vectors)
  const slot = window === undefined ? 'position' : '(position % capacity)'
  return `  let head = workgroup.x;
  let lane = workgroup.z;
  let row = lane * rows + workgroup.y;
  let begin = control[${controlWords}u * lane];
  let own_position = begin + workgroup.y;
  let capacity = control[${controlWords}u * lane + 3u];
  let base = (control[${controlWords}u * lane + 1u] * ${heads}u + head) * capacity * ${vectors}u;
  ${
    window === undefined
      ? 'let oldest = 0u;'
      : `let oldest = own_position + 1u - min(own_position + 1u, ${window}u);`
  }
  let count = own_position + 1u - oldest;
  if (thread < ${vectors}u) {
    query[thread] = turned(0u, row, head, thread) * ${1 / Math.sqrt(headDim)};
    if (control[${controlWords}u * lane + 2u] != 0u) {
      let position = own_position;
      keys[base + thread * capacity + ${slot}] = turned(1u, row, head, thread);
      values[base + ${slot} * ${vectors}u + thread] = vector_of(2u, row, head, thread);
    }
  }
  workgroupBarrier();
  var most = -3.0e38;
  var total = 0.0;
  var weighted = vec4f();
  let vector = thread % ${vectors}u;
  let walker = thread / ${vectors}u;
  for (var turn = 0u; turn < count; turn += ${held}u) {
    let here = min(${held}u, count - turn);
    var own_most = -3.0e38;
    for (var i = thread; i < here; i += ${threads}u) {
      let position = oldest + turn + i;
      var score = 0.0;
      if (position >= begin) {
        let other = lane * rows + position - begin;
        for (var d = 0u; d < ${vectors}u; d++) { score += dot(query[d], turned(1u, other, head, d)); }
      } else {
        let key = base + ${slot};
        ${scoreOf(vectors, unroll)}
      }
      scores[i] = score;
      own_most = max(own_most, score);
    }
    let next_most = max(most, greatest(own_most, thread));
    let rescale = exp(max(most - next_most, -80.0)) * select(0.0, 1.0, turn > 0u);
    most = next_most;
    var own_total = 0.0;
    for (var i = thread; i < here; i += ${threads}u) {
      let weight = exp(scores[i] - most);
      scores[i] = weight;
      own_total += weight;
    }
    total = total * rescale + sum(own_total, thread);
    workgroupBarrier();
    weighted *= rescale;
    if (walker < ${walkers}u) {
      let past = min(here, max(begin, oldest + turn) - (oldest + turn));
      var i = walker;
      ${unroll ? fourValues(walkers, vectors, slot) : ''}
      for (; i < past; i += ${walkers}u) {
        let position = oldest + turn + i;
        weighted += scores[i] * values[base + ${slot} * ${vectors}u + vector];
      }
      for (var j = past + walker; j < here; j += ${walkers}u) {
        weighted += scores[j] * vector_of(2u, lane * rows + oldest + turn + j - begin, head, vector);
      }
    }
    workgroupBarrier();
  }
  sums[thread] = weighted;
  workgroupBarrier();
  if (thread < ${vectors}u) {
    var value = vec4f();
    for (var i = 0u; i < ${walkers}u; i++) { value += sums[i * ${vectors}u + thread]; }
    value /= total;
    for (var c = 0u; c < min(4u, ${headDim}u - 4u * thread); c++) {
      out[${rowStart(out, 'row')} + head * ${headDim}u + 4u * thread + c] = value[c];
    }
  }
`
}

/** All of a key at once, where that is not too much to hold: loads that wait for each other take as long as all. */
const scoreOf = (vectors: number, unroll: boolean): string => {
  if (!unroll || vectors > 16) {
    return `for (var d = 0u; d < ${vectors}u; d++) { score += dot(query[d], keys[key + d * capacity]); }`
  }
  const each = Array.from({ length: vectors }, (_, d) => d)
  return [
    ...each.map((d) => `let key_${d} = keys[key + ${d}u * capacity];`),
    ...each.map((d) => `score += dot(query[${d}], key_${d});`),
  ].join('\n        ')
}

/** Four positions of a walker at once. */
const fourValues = (walkers: number, vectors: number, slot: string): string => {
  const four = [0, 1, 2, 3]
  return `for (; i + ${3 * walkers}u < past; i += ${4 * walkers}u) {
        ${four
          .map(
            (n) =>
              `let slot_${n} = ${slot.replace('position', `(oldest + turn + i + ${n * walkers}u)`)}; ` +
              `let value_${n} = values[base + slot_${n} * ${vectors}u + vector];`,
          )
          .join('\n        ')}
        ${four.map((n) => `weighted += scores[i + ${n * walkers}u] * value_${n};`).join('\n        ')}
      }`
}
