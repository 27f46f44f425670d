import type { Activation, WeightDtype } from '@pocket/nn'
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
  unitRows: 'word',
  taps: 'word',
  tapStride: 'word',
  inputs: 'word',
  outputs: 'word',
  format: 'word',
  weights: 'word',
  bias: 'word',
  activation: 'word',
  scale: 'float',
  gate: 'word',
  gateStride: 'word',
  residual: 'word',
  residualStride: 'word',
  out: 'word',
  outStride: 'word',
  xScales: 'word',
  xScaleStride: 'word',
  tapScaleStride: 'word',
  scales: 'word',
} as const satisfies Fields

export const quantization = {
  x: 'word',
  xStride: 'word',
  columns: 'word',
  paddedColumns: 'word',
  limit: 'float',
  asDigits: 'word',
  out: 'word',
  scales: 'word',
} as const satisfies Fields

export const integerPanel = {
  rows: 'word',
  count: 'word',
  columns: 'word',
  taps: 'word',
  tapColumns: 'word',
  inputs: 'word',
  limit: 'float',
  sumLimit: 'float',
  fromBf16: 'word',
  toBytes: 'word',
  forDigits: 'word',
  panel: 'word',
  scales: 'word',
} as const satisfies Fields

export const norm = {
  x: 'word',
  xStride: 'word',
  out: 'word',
  outStride: 'word',
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
  quantization: 'word',
} as const satisfies Fields

export const upsampling = {
  window: 'word',
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
  unitRows: 'word',
  heads: 'word',
  headDim: 'word',
  keys: 'word',
  values: 'word',
  slots: 'word',
  shared: 'word',
  sharedKeys: 'word',
  sharedValues: 'word',
  sharedSlots: 'word',
  window: 'word',
  position: 'word',
  rotations: 'word',
  scale: 'float',
  out: 'word',
  outStride: 'word',
} as const satisfies Fields

export const instruction = {
  kernel: 'word',
  descriptor: 'word',
  units: 'word',
  pieces: 'word',
} as const satisfies Fields

export const program = {
  instructions: 'word',
  end: 'word',
  scratch: 'word',
  scratchStride: 'word',
} as const satisfies Fields

/** `Kernel` of assembly/execute.ts. */
export const kernelCodes = {
  multiply: 0,
  normalize: 1,
  activate: 2,
  slide: 3,
  remember: 4,
  upsample: 5,
  append: 6,
  attend: 7,
  quantize: 8,
} as const

/** `Activation` of assembly/functions.ts. */
export const activationCodes: Record<Activation, number> = { none: 0, elu: 1, gelu: 2, silu: 3 }

/** How long an activation of one value takes, in multiplications with an addition. */
export const loadOfActivation: Record<Activation, number> = { none: 1, elu: 16, gelu: 24, silu: 16 }

/** `Format` of assembly/product.ts. */
export const formatCodes = {
  f32Panels: 0,
  bf16Panels: 1,
  f32Rows: 2,
  i8Panels: 3,
  i16Panels: 4,
  i8DigitPanels: 5,
} as const

/** What there are kernels for. */
export type Dtype = Exclude<WeightDtype, 'F16'>

/** `Conversion` of assembly/pack.ts, by what is read and what is kept. */
export const conversionCodes: Record<Dtype, Record<Dtype, number>> = {
  F32: { F32: 0, BF16: 1 },
  BF16: { F32: 2, BF16: 3 },
}

/** Bytes of a descriptor. */
export const bytesOf = (fields: Fields): number => Object.keys(fields).length * 4

/** Where a field of the descriptor at `address` lies. */
export const fieldAddress = <F extends Fields>(address: number, fields: F, name: keyof F): number =>
  address + Object.keys(fields).indexOf(String(name)) * 4

/** Bytes that the descriptors of one operation take at most: three for a convolution over integers. */
export const descriptorBytes = 2 * Math.max(...[product, norm, attention].map(bytesOf))

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
