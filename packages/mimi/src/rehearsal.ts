import { ndArray, type WeightReader } from '@pocket/nn'
import type { WeightKernels } from './convolution.ts'

/**
 * With these two a network is loaded as a rehearsal: every tensor's name, shape and dtype is checked by the very code
 * that loads it, but no byte is read and an executor makes nothing. An unfit checkpoint is refused before any work.
 */
export const shapesOnly = (reader: WeightReader): WeightReader => ({
  names: () => reader.names(),
  has: (name) => reader.has(name),
  info: (name) => reader.info(name),
  bytes: () => new Uint8Array(0),
  f32: () => ndArray(new Float32Array(0), [0]),
})

/** Handles that hold nothing but their sizes. */
export const sizesOnly: WeightKernels = {
  vector: ({ length }) => ({ length }),
  matrix: ({ weight }) => {
    const [outputs = 0, inputs = 0] = weight.shape
    return { outputs, inputs }
  },
  convolution: ({ weight, stride = 1, dilation = 1, padding = 'zero' }) => {
    const [outputChannels = 0, inputChannels = 0, kernel = 0] = weight.shape
    return { inputChannels, outputChannels, kernel, stride, dilation, padding }
  },
  transposedConvolution: ({ weight, stride, depthwise = false }) => {
    const [inputChannels = 0, outputs = 0, kernel = 0] = weight.shape
    return { inputChannels, outputChannels: depthwise ? inputChannels : outputs, kernel, stride, depthwise }
  },
}
