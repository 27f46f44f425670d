import type { Capabilities } from '../capabilities.ts'

/**
 * How threads that stand side by side add up what they hold: neighbours first, then pairs of neighbours, and so on. All
 * ways of sharing add in this order, so that the sums are the same to the bit with subgroups of any size and without.
 */

export const enableSubgroups = (capabilities: Capabilities): string =>
  capabilities.subgroups ? 'enable subgroups;\n' : ''

/** Threads of `group` that share through their subgroup, whatever its size; 1 without subgroups. */
export const shuffledThreads = ({ subgroups }: Capabilities, group: number): number =>
  Math.min(group, subgroups?.least ?? 1)

/** WGSL that leaves in `name` of every thread what its `shuffled` neighbours held together. */
export const shuffle = (name: string, shuffled: number, combine = add): string =>
  doublings(shuffled)
    .map((step) => `${name} = ${combine(name, `subgroupShuffleXor(${name}, ${step}u)`)};`)
    .join(' ')

/** WGSL for `parts` together; a power of two of them. */
export const together = (parts: readonly string[], combine = add): string => {
  const [first = '', second] = parts
  if (second === undefined) return first
  const pairs = parts.flatMap((part, index) =>
    index % 2 === 0 ? [`(${combine(part, parts[index + 1] ?? '')})`] : [],
  )
  return together(pairs, combine)
}

const add = (a: string, b: string): string => `${a} + ${b}`
const greater = (a: string, b: string): string => `max(${a}, ${b})`

export interface Reduction {
  /** The WGSL function's name, and one for its memory. */
  readonly name: string
  readonly operation: 'add' | 'max'
  /** Threads of the workgroup. */
  readonly threads: number
  /** Threads that reduce together; a power of two that divides `threads`. */
  readonly group: number
}

/**
 * A WGSL function of a value and the thread that gives every thread the sum (or the greatest) of its group's values. To
 * be called in uniform control flow.
 */
export const declareReduction = (capabilities: Capabilities, reduction: Reduction): string => {
  const { name, operation, threads, group } = reduction
  const combine = operation === 'add' ? add : greater
  const shuffled = shuffledThreads(capabilities, group)
  const own = `  var total = value;\n  ${shuffle('total', shuffled, combine)}\n`
  const signature = `fn ${name}(value: f32, thread: u32) -> f32 {`
  if (shuffled === group) return `${signature}\n${own}  return total;\n}\n`
  const parts = `${name}_parts`
  const count = group / shuffled
  if (shuffled > 1) {
    const all = Array.from({ length: count }, (_, index) => `${parts}[first + ${index}u]`)
    return `var<workgroup> ${parts}: array<f32, ${threads / shuffled}>;
${signature}
${own}  workgroupBarrier();
  if (thread % ${shuffled}u == 0u) { ${parts}[thread / ${shuffled}u] = total; }
  workgroupBarrier();
  let first = thread / ${group}u * ${count}u;
  return ${together(all, combine)};
}
`
  }
  const steps = doublings(group).map(
    (step) => `  if (thread % ${2 * step}u == 0u) {
    ${parts}[thread] = ${combine(`${parts}[thread]`, `${parts}[thread + ${step}u]`)};
  }
  workgroupBarrier();
`,
  )
  return `var<workgroup> ${parts}: array<f32, ${threads}>;
${signature}
  workgroupBarrier();
  ${parts}[thread] = value;
  workgroupBarrier();
${steps.join('')}  return ${parts}[thread / ${group}u * ${group}u];
}
`
}

/** 1, 2, 4, … `group / 2` */
export const doublings = (group: number): number[] =>
  Array.from({ length: Math.log2(group) }, (_, index) => 1 << index)
