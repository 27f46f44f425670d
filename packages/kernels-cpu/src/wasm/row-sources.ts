import { bytesPerWeight, type ConvolutionRows, type StoredWeight } from '@pocket/nn'
import { convolutionTaps, matrixTaps } from '../integers.ts'
import type { Dtype } from './descriptors.ts'
import type { RowSource } from './pack.ts'

/** A linear layer's `[outputs, inputs]`: as it is. */
export const matrixSource = ({ dtype, shape, bytes }: StoredWeight<Dtype>): RowSource => {
  const [outputs = 0, inputs = 0] = shape
  const rowBytes = inputs * bytesPerWeight[dtype]
  return {
    outputs,
    inputs,
    dtype,
    taps: matrixTaps(inputs),
    fill: (into, first, count) => into.set(bytes.subarray(first * rowBytes, (first + count) * rowBytes)),
  }
}

/** A convolution's rows; each time step has a scale of its own where they become integers. */
export const convolutionSource = ({
  outputs,
  taps,
  channels,
  dtype,
  fill,
}: ConvolutionRows<Dtype>): RowSource => ({
  outputs,
  inputs: taps * channels,
  dtype,
  taps: convolutionTaps(taps, channels),
  fill,
})
