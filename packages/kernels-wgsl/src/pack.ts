import {
  bytesPerWeight,
  type ConvolutionRows,
  greatestMagnitude,
  KernelError,
  leastMagnitude,
  nearestInteger,
  type Precision,
  type StoredWeight,
  type WeightDtype,
  widenedWeight,
} from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'
import type { Gpu } from './gpu.ts'
import { type WeightFormat, weightsPerVector } from './kernels/weight-format.ts'

/** `[outputs, inputs]` weights in the order in which a product reads them. */
export interface RowWeights {
  readonly outputs: number
  readonly inputs: number
  readonly dtype: StoredWeight['dtype']
  /** Little-endian values of `dtype`. */
  readonly bytes: Uint8Array
}

/** Rows of weights, one for each output. */
export interface PackedWeights {
  readonly buffer: GPUBuffer
  readonly format: WeightFormat
  readonly outputs: number
  /** Vectors of 16 bytes in a row. */
  readonly vectors: number
  /** `[outputs]` biases, then in int8 `[outputs]` scales; undefined where there is neither. */
  readonly terms: GPUBuffer | undefined
  readonly bias: boolean
}

export interface PackOptions {
  readonly precision: Precision
  readonly bias: Float32Array | undefined
  readonly label: string
}

/** A linear layer's `[outputs, inputs]`: as it is. */
export const storedRows = ({ dtype, shape, bytes }: StoredWeight): RowWeights => {
  const [outputs = 0, inputs = 0] = shape
  return { outputs, inputs, dtype, bytes }
}

/** A convolution's rows, all at once. */
export const gatheredRows = ({ outputs, taps, channels, dtype, fill }: ConvolutionRows): RowWeights => {
  const inputs = taps * channels
  const bytes = new Uint8Array(outputs * inputs * bytesPerWeight[dtype])
  fill(bytes, 0, outputs)
  return { outputs, inputs, dtype, bytes }
}

/** Takes weights onto the device. Throws KernelError `out-of-memory`. */
export const packRows = (
  gpu: Gpu,
  rows: RowWeights,
  { precision, bias, label }: PackOptions,
): PackedWeights => {
  const { outputs, inputs } = rows
  const format = formatOf(precision, rows.dtype)
  const vectors = Math.ceil(inputs / weightsPerVector[format])
  const { data, scales } = encode(rows, format, vectors)
  const buffer = gpu.store(label, data)
  if (!bias && !scales) return { buffer, format, outputs, vectors, terms: undefined, bias: false }
  const terms = new Float32Array(scales ? 2 * outputs : outputs)
  if (bias) terms.set(bias)
  if (scales) terms.set(scales, outputs)
  return {
    buffer,
    format,
    outputs,
    vectors,
    terms: gpu.store(`${label}, terms`, terms),
    bias: bias !== undefined,
  }
}

const storedFormats: Record<WeightDtype, WeightFormat> = { F32: 'f32', BF16: 'bf16', F16: 'f16' }

const formatOf = (precision: Precision, dtype: StoredWeight['dtype']): WeightFormat => {
  switch (precision) {
    case 'stored':
      return storedFormats[dtype]
    case 'f32':
    case 'bf16':
    case 'int8':
      return precision
    default:
      throw new KernelError('unavailable', `precision ${precision} is not available on the GPU: use stored`)
  }
}

/** Rows padded to whole vectors. */
const encode = (
  rows: RowWeights,
  format: WeightFormat,
  vectors: number,
): { data: ArrayBufferView; scales?: Float32Array } => {
  const { dtype, bytes, inputs } = rows
  const padded = vectors * weightsPerVector[format]
  switch (format) {
    case 'bf16': {
      const values = dtype === 'BF16' ? halves(bytes) : f32ToBf16(widenedWeight(rows))
      return { data: pad(values, inputs, padded) }
    }
    case 'f16':
      return { data: pad(halves(bytes), inputs, padded) }
    case 'f32':
      return { data: pad(widenedWeight(rows), inputs, padded) }
    case 'int8':
      return quantise(widenedWeight(rows), inputs, padded)
  }
}

const halves = (bytes: Uint8Array): Uint16Array => {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice()
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 2)
}

const pad = <T extends Uint16Array | Float32Array>(values: T, inputs: number, padded: number): T => {
  if (inputs === padded) return values
  const outputs = values.length / inputs
  const result = new (values.constructor as new (length: number) => T)(outputs * padded)
  for (let output = 0; output < outputs; output++) {
    result.set(values.subarray(output * inputs, (output + 1) * inputs), output * padded)
  }
  return result
}

/** `w ≈ q · scale` with |q| ≤ 127, a scale for each output, as the CPU's kernels have them. */
const quantise = (
  values: Float32Array,
  inputs: number,
  padded: number,
): { data: Int8Array; scales: Float32Array } => {
  const outputs = values.length / inputs
  const data = new Int8Array(outputs * padded)
  const scales = new Float32Array(outputs)
  for (let output = 0; output < outputs; output++) {
    const row = values.subarray(output * inputs, (output + 1) * inputs)
    const greatest = greatestMagnitude(row)
    if (greatest < leastMagnitude) continue
    const scale = Math.fround(greatest / 127)
    scales[output] = scale
    const first = output * padded
    for (let input = 0; input < inputs; input++) {
      data[first + input] = nearestInteger(Math.fround((row[input] ?? 0) / scale))
    }
  }
  return { data, scales }
}
