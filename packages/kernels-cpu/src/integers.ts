import type { Precision } from '@pocket/nn'

/**
 * Weights and activations as integers: the rules that the WebAssembly kernels and the oracle share.
 *
 * An output's weights are `w ≈ q · scale`, a row of x (in a convolution: a time step) is `x ≈ r · scale`, each with its
 * own scale and no offset. Products add `q · r` in 32 bits over the inputs of one tap. That sum cannot overflow:
 *
 *     |Σ q · r| ≤ inputLimit · Σ |q| ≤ inputLimit · ⌊(2³¹ − 1) / inputLimit⌋ < 2³¹
 *
 * and neither can any part of it, whose terms are some of these. The second step is seen to when weights are packed:
 * rounding moves a weight by a half at most, so `Σ |q| ≤ Σ |w| / scale + n / 2` over the n inputs of a tap, and a scale
 * of at least `Σ |w| / sumLimit` is enough. It seldom decides: 512 weights of eight bits pass even if all are ±127.
 */
export interface IntegerFormat {
  /** The greatest weight. */
  readonly weightLimit: number
  /** The greatest value of a row of x. */
  readonly inputLimit: number
}

export type IntegerPrecision = Extract<Precision, 'int8' | 'int16'>

/**
 * Rows have 14 bits. Beside weights of eight bits that is 64 times as fine, and two digits of seven bits, for which
 * processors have instructions (assembly/digit-product.ts). With weights of 16 bits, 32 bits of sum have to be shared,
 * and weights get what is left by the rule above: 11 to 14 bits where 512 to 64 of them are added.
 */
export const integerFormats: Readonly<Record<IntegerPrecision, IntegerFormat>> = {
  int8: { weightLimit: 127, inputLimit: 8191 },
  int16: { weightLimit: 32767, inputLimit: 8191 },
}

export const isInteger = (precision: Precision): precision is IntegerPrecision => precision in integerFormats

/** What the sizes of the weights of one tap may add up to before they are rounded; one unit for float32 rounding. */
export const sumLimit = ({ inputLimit }: IntegerFormat, tapInputs: number): number =>
  Math.floor((2 ** 31 - 1) / inputLimit) - tapInputs / 2 - 1

/** How the inputs of an output are cut into sums. */
export interface IntegerTaps {
  readonly taps: number
  /** Inputs of a tap; the last one of a matrix may have fewer. */
  readonly tapColumns: number
  /** The same in whole fours, zeros at the end: kernels take two pairs at a time. */
  readonly inputs: number
}

/** Inputs that a matrix sums in one go: with eight bits ±127 · ±8191 could be added 2064 times. */
const most = 512

/** Of a matrix: as few taps as there can be. */
export const matrixTaps = (inputs: number): IntegerTaps => {
  const taps = Math.ceil(inputs / most)
  const tapColumns = wholeFours(Math.ceil(inputs / taps))
  return { taps, tapColumns, inputs: tapColumns }
}

/** Of a convolution: one for each of the time steps that an output sees, which have scales of their own. */
export const convolutionTaps = (steps: number, channels: number): IntegerTaps => ({
  taps: steps,
  tapColumns: channels,
  inputs: wholeFours(channels),
})

const wholeFours = (count: number): number => Math.ceil(count / 4) * 4
