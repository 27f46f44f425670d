import type { StoredWeight } from '@pocket/nn'
import { convolutionTaps, matrixTaps } from '../integers.ts'
import { bytesPerValue, type RowSource } from './pack.ts'

/** How the weights of each kind of layer become the rows of one matrix. */

/** A linear layer's `[outputs, inputs]`: as it is. */
export const matrixRows = ({ dtype, shape, bytes }: StoredWeight): RowSource => {
  const [outputs = 0, inputs = 0] = shape
  const rowBytes = inputs * bytesPerValue[dtype]
  return {
    outputs,
    inputs,
    dtype,
    taps: matrixTaps(inputs),
    fill: (into, first, count) => into.set(bytes.subarray(first * rowBytes, (first + count) * rowBytes)),
  }
}

/** `[outputChannels, inputChannels, kernel]` to `[outputChannels, kernel · inputChannels]`: the order of the rows of x. */
export const convolutionRows = (weight: StoredWeight): RowSource => {
  const [outputChannels = 0, channels = 0, kernel = 0] = weight.shape
  return gather(weight, outputChannels, {
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
export const transposedConvolutionRows = (weight: StoredWeight, stride: number): RowSource => {
  const [channels = 0, outputChannels = 0, kernel = 0] = weight.shape
  const taps = kernel / stride
  return gather(weight, stride * outputChannels, {
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

const gather = ({ dtype, bytes }: StoredWeight, outputs: number, order: Order): RowSource => {
  const { taps, channels, channelStride } = order
  const aligned = bytes.byteOffset % bytesPerValue[dtype] === 0 ? bytes : bytes.slice()
  const values = patterns(dtype, aligned)
  return {
    outputs,
    inputs: taps * channels,
    dtype,
    taps: convolutionTaps(taps, channels),
    fill: (into, first, count) => {
      const rows = patterns(dtype, into)
      let to = 0
      for (let output = first; output < first + count; output++) {
        for (let tap = 0; tap < taps; tap++) {
          let from = order.origin(output) + order.tapOffset(tap)
          for (let channel = 0; channel < channels; channel++, from += channelStride) {
            rows[to++] = values[from] ?? 0
          }
        }
      }
    },
  }
}

/** The values' bits: they are moved, not computed with. */
const patterns = (
  dtype: StoredWeight['dtype'],
  { buffer, byteOffset, byteLength }: Uint8Array,
): Uint16Array | Uint32Array =>
  dtype === 'BF16'
    ? new Uint16Array(buffer, byteOffset, byteLength / 2)
    : new Uint32Array(buffer, byteOffset, byteLength / 4)
