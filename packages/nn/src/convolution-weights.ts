import { bytesPerWeight } from './stored-weight.ts'
import type { StoredWeight, WeightDtype } from './weights.ts'

/**
 * What executors that compute convolutions as products make of a checkpoint's weights: the rows of one matrix, in the
 * order in which a row of x holds its receptive field, time step by time step.
 */
export interface ConvolutionRows<Dtype extends WeightDtype = WeightDtype> {
  readonly outputs: number
  /** Time steps that an output sees. */
  readonly taps: number
  /** Inputs of a tap; a row has `taps · channels` weights. */
  readonly channels: number
  readonly dtype: Dtype
  /** Writes rows `first … first + count` to `into`, in the bytes of `dtype`, on an address that is a multiple of its size. */
  fill(into: Uint8Array, first: number, count: number): void
}

/** `[outputChannels, inputChannels, kernel]` to `[outputChannels, kernel · inputChannels]`: the order of the rows of x. */
export const convolutionRows = <Dtype extends WeightDtype>(
  weight: StoredWeight<Dtype>,
): ConvolutionRows<Dtype> => {
  const [outputs = 0, channels = 0, kernel = 0] = weight.shape
  return gather(weight, {
    outputs,
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
export const transposedConvolutionRows = <Dtype extends WeightDtype>(
  weight: StoredWeight<Dtype>,
  stride: number,
): ConvolutionRows<Dtype> => {
  const [channels = 0, outputChannels = 0, kernel = 0] = weight.shape
  const taps = kernel / stride
  return gather(weight, {
    outputs: stride * outputChannels,
    taps,
    channels,
    origin: (output) => (output % outputChannels) * kernel + Math.floor(output / outputChannels),
    tapOffset: (tap) => (taps - 1 - tap) * stride,
    channelStride: outputChannels * kernel,
  })
}

/** The bias of `transposedConvolutionRows`: `stride` rows of the result, each with the same one. */
export const repeatedBias = (bias: Float32Array, stride: number): Float32Array => {
  const repeated = new Float32Array(bias.length * stride)
  for (let i = 0; i < stride; i++) repeated.set(bias, i * bias.length)
  return repeated
}

/** A depthwise filter's `[channels, kernel]` to `[kernel, channels]`, so that channels side by side are read at once. */
export const filtersByStep = (values: Float32Array, channels: number): Float32Array => {
  const kernel = values.length / channels
  const filters = new Float32Array(values.length)
  for (let channel = 0; channel < channels; channel++) {
    for (let k = 0; k < kernel; k++) filters[k * channels + channel] = values[channel * kernel + k] ?? 0
  }
  return filters
}

/** Where the value of (output, tap, channel) lies in a checkpoint: the three parts add up. */
interface Order {
  readonly outputs: number
  readonly taps: number
  readonly channels: number
  origin(output: number): number
  tapOffset(tap: number): number
  readonly channelStride: number
}

const gather = <Dtype extends WeightDtype>(
  { dtype, bytes }: StoredWeight<Dtype>,
  order: Order,
): ConvolutionRows<Dtype> => {
  const { outputs, taps, channels, channelStride } = order
  const bytesPerValue = bytesPerWeight[dtype]
  const values = patterns(dtype, bytes.byteOffset % bytesPerValue === 0 ? bytes : bytes.slice())
  return {
    outputs,
    taps,
    channels,
    dtype,
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
  dtype: WeightDtype,
  { buffer, byteOffset, byteLength }: Uint8Array,
): Uint16Array | Uint32Array =>
  bytesPerWeight[dtype] === 2
    ? new Uint16Array(buffer, byteOffset, byteLength / 2)
    : new Uint32Array(buffer, byteOffset, byteLength / 4)
