import type { Capabilities } from '../capabilities.ts'

/** Built-in values that a kernel with subgroups takes; written after its own parameters. */
export const subgroupParameters = (capabilities: Capabilities): string =>
  capabilities.subgroups
    ? ', @builtin(subgroup_size) subgroup_width: u32, @builtin(subgroup_invocation_id) subgroup_place: u32'
    : ''

export const enableSubgroups = (capabilities: Capabilities): string =>
  capabilities.subgroups ? 'enable subgroups;\n' : ''

/** How threads that stand side by side share their values: by what the subgroup sizes of the device allow. */
export const sharingWay = (
  { subgroups }: Capabilities,
  group: number,
): 'alone' | 'shuffle' | 'subgroups' | 'memory' => {
  if (group === 1) return 'alone'
  if (subgroups && group <= subgroups.least) return 'shuffle'
  if (subgroups && group >= subgroups.most) return 'subgroups'
  return 'memory'
}

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
 * A WGSL function that gives every thread the sum (or the greatest) of its group's values. Call it in uniform control
 * flow, as `reduced(reduction, value)` writes it.
 */
export const declareReduction = (capabilities: Capabilities, reduction: Reduction): string => {
  const { name, operation, threads, group } = reduction
  const combine = (a: string, b: string): string => (operation === 'add' ? `${a} + ${b}` : `max(${a}, ${b})`)
  switch (sharingWay(capabilities, group)) {
    case 'alone':
      return `fn ${name}(value: f32, thread: u32) -> f32 { return value; }\n`
    case 'shuffle': {
      const steps = halvings(group).map(
        (step) => `  total = ${combine('total', `subgroupShuffleXor(total, ${step}u)`)};\n`,
      )
      return `fn ${name}(value: f32, thread: u32) -> f32 {\n  var total = value;\n${steps.join('')}  return total;\n}\n`
    }
    case 'subgroups': {
      const { least } = capabilities.subgroups ?? { least: 1 }
      return `var<workgroup> ${name}_parts: array<f32, ${threads / least}>;
fn ${name}(value: f32, thread: u32, subgroup_width: u32, subgroup_place: u32) -> f32 {
  let part = ${operation === 'add' ? 'subgroupAdd' : 'subgroupMax'}(value);
  workgroupBarrier();
  if (subgroup_place == 0u) { ${name}_parts[thread / subgroup_width] = part; }
  workgroupBarrier();
  let parts = ${group}u / subgroup_width;
  let first = thread / ${group}u * parts;
  var total = ${name}_parts[first];
  for (var i = 1u; i < parts; i++) { total = ${combine('total', `${name}_parts[first + i]`)}; }
  return total;
}
`
    }
    case 'memory': {
      const steps = halvings(group).map(
        (step) => `  if (thread % ${group}u < ${step}u) {
    ${name}_parts[thread] = ${combine(`${name}_parts[thread]`, `${name}_parts[thread + ${step}u]`)};
  }
  workgroupBarrier();
`,
      )
      return `var<workgroup> ${name}_parts: array<f32, ${threads}>;
fn ${name}(value: f32, thread: u32) -> f32 {
  workgroupBarrier();
  ${name}_parts[thread] = value;
  workgroupBarrier();
${steps.join('')}  return ${name}_parts[thread / ${group}u * ${group}u];
}
`
    }
  }
}

/** WGSL for a call of a declared reduction. */
export const reduced = (
  capabilities: Capabilities,
  { name, group }: Pick<Reduction, 'name' | 'group'>,
  value: string,
): string =>
  sharingWay(capabilities, group) === 'subgroups'
    ? `${name}(${value}, thread, subgroup_width, subgroup_place)`
    : `${name}(${value}, thread)`

/** `group / 2`, `group / 4`, … 1 */
export const halvings = (group: number): number[] =>
  Array.from({ length: Math.log2(group) }, (_, index) => group >> (index + 1))
