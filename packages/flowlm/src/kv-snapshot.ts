import type { FlowLmConfig } from './config.ts'
import { FlowLmError } from './errors.ts'

/** What a state has seen, as data: a voice is one, taken after its prompt. */
export interface KvSnapshot {
  positions: number
  heads: number
  headDim: number
  /** Per layer keys, with the rotary embedding applied, and values: each `[positions, heads, headDim]`. */
  layers: { k: Float32Array; v: Float32Array }[]
}

/** Throws FlowLmError `snapshot` unless the snapshot is whole and of this model's geometry. Values are not looked at. */
export const checkSnapshot = (snapshot: KvSnapshot, config: FlowLmConfig): void => {
  const { positions, heads, headDim, layers } = snapshot
  const describe = (of: { layers: number; heads: number; headDim: number }): string =>
    `${of.layers} layers of ${of.heads} heads × ${of.headDim}`
  if (layers.length !== config.layers || heads !== config.heads || headDim !== config.headDim) {
    const found = describe({ layers: layers.length, heads, headDim })
    throw new FlowLmError(
      'snapshot',
      `the snapshot holds ${found}, this model has ${describe(config)}: it was taken from another model`,
    )
  }
  if (!Number.isSafeInteger(positions) || positions < 0) {
    throw new FlowLmError('snapshot', `the snapshot has ${positions} positions, expected a whole number`)
  }
  const length = positions * heads * headDim
  layers.forEach(({ k, v }, layer) => {
    if (k.length === length && v.length === length) return
    throw new FlowLmError(
      'snapshot',
      `layer ${layer} of the snapshot has ${k.length} keys and ${v.length} values, expected ${length} of each for ` +
        `${positions} positions`,
    )
  })
}
