import type { Activation, StoredWeight } from '@pocket/nn'
import type { Runtime } from './runtime.ts'

/**
 * The blocks of fields that kernels take: the classes of the same names in `assembly/`, field for field, which a test
 * compares. Every field is one 32-bit word: an address, a count, a stride in bytes, or a float32.
 */
type Fields = Readonly<Record<string, 'word' | 'float'>>

export const product = {
  x: 'word',
  xStride: 'word',
  rows: 'word',
  taps: 'word',
  tapStride: 'word',
  inputs: 'word',
  outputs: 'word',
  format: 'word',
  weights: 'word',
  block: 'word',
  bias: 'word',
  activation: 'word',
  scale: 'float',
  gate: 'word',
  gateStride: 'word',
  residual: 'word',
  residualStride: 'word',
  out: 'word',
  outStride: 'word',
} as const satisfies Fields

/** A product with nothing after its sums: what is left to say is where things are and how many. */
export const plainProduct = {
  bias: 0,
  activation: 0,
  scale: 1,
  gate: 0,
  gateStride: 0,
  residual: 0,
  residualStride: 0,
} as const

export const norm = {
  x: 'word',
  xStride: 'word',
  out: 'word',
  outStride: 'word',
  rows: 'word',
  columns: 'word',
  eps: 'float',
  weight: 'word',
  bias: 'word',
  gain: 'word',
  gainStride: 'word',
  shift: 'word',
  shiftStride: 'word',
} as const satisfies Fields

export const elementwise = {
  x: 'word',
  xStride: 'word',
  out: 'word',
  outStride: 'word',
  rows: 'word',
  columns: 'word',
  vector: 'word',
  activation: 'word',
} as const satisfies Fields

export const window = {
  x: 'word',
  xStride: 'word',
  rows: 'word',
  channels: 'word',
  fresh: 'word',
  history: 'word',
  historyRows: 'word',
  replicate: 'word',
  activation: 'word',
  window: 'word',
} as const satisfies Fields

export const upsampling = {
  window: 'word',
  rows: 'word',
  channels: 'word',
  stride: 'word',
  taps: 'word',
  weights: 'word',
  bias: 'word',
  out: 'word',
} as const satisfies Fields

export const attention = {
  qkv: 'word',
  qkvStride: 'word',
  rows: 'word',
  heads: 'word',
  headDim: 'word',
  keys: 'word',
  values: 'word',
  slots: 'word',
  window: 'word',
  rotations: 'word',
  scale: 'float',
  query: 'word',
  scores: 'word',
  out: 'word',
  outStride: 'word',
} as const satisfies Fields

/** `Activation` of assembly/functions.ts. */
export const activationCodes: Record<Activation, number> = { none: 0, elu: 1, gelu: 2, silu: 3 }

/** `Format` of assembly/product.ts. */
export const formatCodes = { f32Panels: 0, bf16Panels: 1, f32Rows: 2 } as const

/** `Conversion` of assembly/pack.ts, by what is read and what is kept. */
export const conversionCodes: Record<StoredWeight['dtype'], Record<StoredWeight['dtype'], number>> = {
  F32: { F32: 0, BF16: 1 },
  BF16: { F32: 2, BF16: 3 },
}

/** Bytes that any two descriptors of one operation take at most. */
export const descriptorBytes = 4 * 2 * Math.max(...[product, norm, attention].map(fieldCount))

function fieldCount(fields: Fields): number {
  return Object.keys(fields).length
}

/** Writes a descriptor at `address`; returns the address after it. */
export const writeDescriptor = <F extends Fields>(
  runtime: Runtime,
  address: number,
  fields: F,
  values: Readonly<Record<keyof F, number>>,
): number => {
  let index = address / 4
  for (const [name, type] of Object.entries(fields)) {
    const memory = type === 'float' ? runtime.floats : runtime.words
    memory[index++] = values[name as keyof F]
  }
  return index * 4
}
