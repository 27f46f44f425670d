import type { StoredWeight } from '@pocket/nn'
import type { RowWeights } from './pack.ts'

/** How the weights of convolutions become the rows of one matrix. */

/** `[outputChannels, inputChannels, kernel]` to `[outputChannels, kernel · inputChannels]`: the order of the rows of x. */
export const convolutionRows = (weight: StoredWeight): RowWeights => {
  const [outputChannels = 0, channels = 0, kernel = 0] = weight.shape
  return reorder(weight, outputChannels, {
    taps: kernel,
    channels,
    origin: (output) => output * channels * kernel,
    tapOffset: (tap) => tap,
    channelStride: kernel,
  })
}

/**
 * `[inputChannels, outputChannels, kernel]` to `[stride · outputChannels, taps · inputChannels]`: one row of outputs
 * is `stride` rows of the result, and the oldest of the `taps` input rows comes first.
 */
export const transposedConvolutionRows = (weight: StoredWeight, stride: number): RowWeights => {
  const [channels = 0, outputChannels = 0, kernel = 0] = weight.shape
  const taps = kernel / stride
  return reorder(weight, stride * outputChannels, {
    taps,
    channels,
    origin: (output) => (output % outputChannels) * kernel + Math.floor(output / outputChannels),
    tapOffset: (tap) => (taps - 1 - tap) * stride,
    channelStride: outputChannels * kernel,
  })
}

/** Where the value of (output, tap, channel) lies in a checkpoint: the three parts add up. */
interface Order {
  readonly taps: number
  readonly channels: number
  origin(output: number): number
  tapOffset(tap: number): number
  readonly channelStride: number
}

const reorder = ({ dtype, bytes }: StoredWeight, outputs: number, order: Order): RowWeights => {
  const { taps, channels, channelStride } = order
  const from = patterns(dtype, bytes)
  const rows = dtype === 'BF16' ? new Uint16Array(from.length) : new Uint32Array(from.length)
  let to = 0
  for (let output = 0; output < outputs; output++) {
    for (let tap = 0; tap < taps; tap++) {
      let at = order.origin(output) + order.tapOffset(tap)
      for (let channel = 0; channel < channels; channel++, at += channelStride) rows[to++] = from[at] ?? 0
    }
  }
  return { outputs, inputs: taps * channels, dtype, bytes: new Uint8Array(rows.buffer) }
}

/** The values' bits: they are moved, not computed with. */
const patterns = (dtype: StoredWeight['dtype'], bytes: Uint8Array): Uint16Array | Uint32Array => {
  const size = dtype === 'BF16' ? 2 : 4
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % size === 0 ? bytes : bytes.slice()
  return size === 2
    ? new Uint16Array(buffer, byteOffset, byteLength / 2)
    : new Uint32Array(buffer, byteOffset, byteLength / 4)
}
