import type { Capabilities } from '../capabilities.ts'
import { declareReduction, type Reduction } from './reduction.ts'

export interface NormStatistics {
  /** Rows that the workgroup needs; row `i` of them is `first_row + i`. */
  readonly rows: number
  readonly columns: number
  readonly threads: number
  readonly eps: number
}

/** Vectors of a row that a thread keeps between the two passes; of more it reads them again. */
const mostHeld = 8

/** Threads that look at one row: a power of two, so that all rows of the workgroup are looked at at once. */
const groupOf = ({ rows, threads }: NormStatistics): number =>
  Math.max(1, threads / 2 ** Math.ceil(Math.log2(rows)))

const reductionOf = (statistics: NormStatistics): Reduction => ({
  name: 'sum_row',
  operation: 'add',
  threads: statistics.threads,
  group: groupOf(statistics),
})

/**
 * Mean and inverse deviation of each row of a workgroup, as a LayerNorm wants them: the mean first, then the squares of
 * what is left, since the mean may be large beside the deviation.
 */
export const declareStatistics = (capabilities: Capabilities, statistics: NormStatistics): string =>
  `var<workgroup> statistics: array<vec2f, ${statistics.rows}>;\n${declareReduction(capabilities, reductionOf(statistics))}`

/**
 * WGSL that fills `statistics`. `load(row, k)` is an expression for four values of the row numbered through all lanes;
 * values beyond the last column must be zero.
 */
export const computeStatistics = (
  statistics: NormStatistics,
  mostRow: number,
  prepare: (name: string, row: string) => string,
  load: (name: string, k: string) => string,
): string => {
  const { rows, columns, eps } = statistics
  const group = groupOf(statistics)
  const vectors = Math.ceil(columns / 4)
  const sum = (value: string): string => `${reductionOf(statistics).name}(${value}, thread)`
  // The last vector of a row may have fewer than four columns; the rest must not count as deviations.
  const masked =
    columns % 4 === 0 ? 'd' : `select(vec4f(), d, 4u * i + vec4u(0u, 1u, 2u, 3u) < vec4u(${columns}u))`
  const each = vectors / group
  const held =
    Number.isInteger(each) && each <= mostHeld ? Array.from({ length: each }, (_, n) => n) : undefined
  const passes = held
    ? {
        total: `${held.map((n) => `let held_${n} = ${load('norm', `4u * (own + ${n * group}u)`)};`).join('\n    ')}
    let total = ${held.map((n) => `dot(held_${n}, vec4f(1.0))`).join(' + ')};`,
        squares: `var squares = 0.0;
    ${held.map((n) => `{ let i = own + ${n * group}u; let d = held_${n} - mean; let kept = ${masked}; squares += dot(kept, kept); }`).join('\n    ')}`,
      }
    : {
        total: `var total = 0.0;
    for (var i = own; i < ${vectors}u; i += ${group}u) { total += dot(${load('norm', '4u * i')}, vec4f(1.0)); }`,
        squares: `var squares = 0.0;
    for (var i = own; i < ${vectors}u; i += ${group}u) {
      let d = ${load('norm', '4u * i')} - mean;
      let kept = ${masked};
      squares += dot(kept, kept);
    }`,
      }
  return `  {
    let row = min(first_row + thread / ${group}u, ${mostRow}u);
    let own = thread % ${group}u;
    ${prepare('norm', 'row')}
    ${passes.total}
    let mean = ${sum('total')} / ${columns}.0;
    ${passes.squares}
    let variance = ${sum('squares')} / ${columns}.0;
    if (own == 0u && thread / ${group}u < ${rows}u) {
      statistics[thread / ${group}u] = vec2f(mean, inverseSqrt(variance + ${eps}));
    }
    workgroupBarrier();
  }
`
}
