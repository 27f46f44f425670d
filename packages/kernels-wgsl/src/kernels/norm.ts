import { type Addressing, isVectorial, rowStart } from '../addressing.ts'
import type { Bindings } from '../program.ts'

/** A LayerNorm of rows as they are read. */
export interface RowNorm {
  readonly eps: number
  readonly weight: boolean
  readonly bias: boolean
  /** Shift and scale of adaLN: both in the binding `modulation` where they share one, else the shift in `shift`. */
  readonly modulation:
    | { readonly shared: boolean; readonly shift: Addressing; readonly scale: Addressing }
    | undefined
}

export const bindNorm = (
  bindings: Bindings,
  { weight, bias, modulation }: RowNorm,
  columns: number,
): void => {
  const type = columns % 4 === 0 ? 'vec4f' : 'f32'
  if (weight) bindings.add('norm_weight', type)
  if (bias) bindings.add('norm_bias', type)
  if (!modulation) return
  const modulationType = isModulationVectorial(modulation) ? 'vec4f' : 'f32'
  bindings.add('modulation', modulationType)
  if (!modulation.shared) bindings.add('shift', modulationType)
}

const isModulationVectorial = ({ shift, scale }: NonNullable<RowNorm['modulation']>): boolean =>
  isVectorial(shift) && isVectorial(scale)

/**
 * `normalise(row, k, raw, own)`: columns `k … k + 3` of a row from their raw values and the row's statistics. `reach` is
 * how far k goes; beyond the columns there are zeros.
 */
export const declareNorm = (norm: RowNorm, columns: number, reach: number): string => {
  const { weight, bias, modulation } = norm
  const vector = (name: string): string => fourOf(name, 'k', columns % 4 === 0)
  const lines = ['var value = (raw - own.x) * own.y;']
  if (weight) lines.push(`value *= ${vector('norm_weight')};`)
  if (bias) lines.push(`value += ${vector('norm_bias')};`)
  if (modulation) {
    const vectorial = isModulationVectorial(modulation)
    const four = (name: string, place: Addressing): string =>
      fourOf(name, `${rowStart(place, 'row')} + k`, vectorial)
    const shift = four(modulation.shared ? 'modulation' : 'shift', modulation.shift)
    lines.push(`value = value * (1.0 + ${four('modulation', modulation.scale)}) + ${shift};`)
  }
  if (reach > columns) {
    lines.push(`value = select(vec4f(), value, k + vec4u(0u, 1u, 2u, 3u) < vec4u(${columns}u));`)
  }
  return `fn normalise(row: u32, k: u32, raw: vec4f, own: vec2f) -> vec4f {
  ${lines.join('\n  ')}
  return value;
}
`
}

const fourOf = (name: string, index: string, vectorial: boolean): string =>
  vectorial
    ? `${name}[(${index}) / 4u]`
    : `vec4f(${[0, 1, 2, 3].map((i) => `${name}[${index} + ${i}u]`).join(', ')})`
