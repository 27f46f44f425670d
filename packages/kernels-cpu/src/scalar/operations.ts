import { isTensor, type Operation, rotaryFrequencies } from '@pocket/nn'
import { activations } from './activations.ts'
import { quantizeRow } from './integers.ts'
import { get, type MatrixView, rowOf, set } from './matrix-view.ts'
import type { ScalarConvolutionState, ScalarKvCache } from './states.ts'
import type { ScalarConvolution, ScalarMatrix, ScalarTransposedConvolution, ScalarVector } from './weights.ts'

/**
 * The operations as plain loops, written to be read: sums in double, one rounding where a value is stored.
 * Every other executor is compared with these.
 */

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>
type View = (tensor: Of<'linear'>['x']) => MatrixView

export const runOperation = (operation: Operation, view: View): void => {
  switch (operation.kind) {
    case 'linear':
      linear(operation, view)
      break
    case 'layerNorm':
      layerNorm(operation, view)
      break
    case 'attention':
      attention(operation, view)
      break
    case 'convolution':
      convolution(operation, view)
      break
    case 'transposedConvolution':
      transposedConvolution(operation, view)
      break
    case 'addVector':
      addVector(operation, view)
      break
    default:
      operation satisfies never
  }
}

const linear = ({ x, matrix, activation, scale, residual, out }: Of<'linear'>, view: View): void => {
  const { weight, bias, integers } = matrix as ScalarMatrix
  const input = view(x)
  const output = view(out)
  const added = residual && view(residual)
  const scaleAt = scaleOf(scale, view)
  const activate = activations[activation]
  const inputs = input.columns
  for (let r = 0; r < output.rows; r++) {
    const row = rowOf(input, r)
    const x = integers ? quantizeRow(row, integers.inputLimit) : { values: row, scale: 1 }
    for (let o = 0; o < output.columns; o++) {
      let sum = 0
      for (let i = 0; i < inputs; i++) sum += weight[o * inputs + i]! * x.values[i]!
      const y = sum * x.scale * (integers?.scales[o] ?? 1) + bias[o]!
      set(output, r, o, (added ? get(added, r, o) : 0) + scaleAt(r, o) * activate(y))
    }
  }
}

const scaleOf = (scale: Of<'linear'>['scale'], view: View): ((row: number, column: number) => number) => {
  if (typeof scale === 'number') return () => scale
  if (isTensor(scale)) {
    const gate = view(scale)
    return (row, column) => get(gate, row, column)
  }
  const { values } = scale as ScalarVector
  return (_, column) => values[column]!
}

const layerNorm = ({ x, norm, modulation, out }: Of<'layerNorm'>, view: View): void => {
  const input = view(x)
  const output = view(out)
  const shift = modulation && view(modulation.shift)
  const scale = modulation && view(modulation.scale)
  const weight = (norm.weight as ScalarVector | undefined)?.values
  const bias = (norm.bias as ScalarVector | undefined)?.values
  const { rows, columns } = input
  for (let r = 0; r < rows; r++) {
    let mean = 0
    for (let c = 0; c < columns; c++) mean += get(input, r, c) / columns
    let variance = 0
    for (let c = 0; c < columns; c++) variance += (get(input, r, c) - mean) ** 2 / columns
    for (let c = 0; c < columns; c++) {
      let y = (get(input, r, c) - mean) / Math.sqrt(variance + norm.eps)
      if (weight) y *= weight[c]!
      if (bias) y += bias[c]!
      if (scale && shift) y = y * (1 + get(scale, r, c)) + get(shift, r, c)
      set(output, r, c, y)
    }
  }
}

const attention = ({ qkv, cache, out }: Of<'attention'>, view: View): void => {
  const kv = cache as ScalarKvCache
  const input = view(qkv)
  const output = view(out)
  const { heads, headDim, width, capacity, window = Number.POSITIVE_INFINITY } = kv
  const frequencies = rotaryFrequencies(headDim, kv.maxPeriod)
  const slot = (position: number): number => (position % capacity) * width

  // All rows are written before any attends: a ring must hold the window of the first and the keys of the last.
  for (let r = 0; r < input.rows; r++) {
    const position = kv.position + r
    rotate(input, r, width, kv.keys, slot(position), position, frequencies, heads)
    for (let c = 0; c < width; c++) kv.values[slot(position) + c] = get(input, r, 2 * width + c)
  }
  const query = new Float32Array(width)
  for (let r = 0; r < input.rows; r++) {
    const position = kv.position + r
    rotate(input, r, 0, query, 0, position, frequencies, heads)
    const first = Math.max(0, position - window + 1)
    for (let h = 0; h < heads; h++) {
      const scores: number[] = []
      for (let p = first; p <= position; p++) {
        let score = 0
        for (let d = 0; d < headDim; d++)
          score += query[h * headDim + d]! * kv.keys[slot(p) + h * headDim + d]!
        scores.push(score / Math.sqrt(headDim))
      }
      const greatest = Math.max(...scores)
      const weights = scores.map((score) => Math.exp(score - greatest))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      for (let d = 0; d < headDim; d++) {
        let sum = 0
        weights.forEach((weight, i) => {
          sum += weight * kv.values[slot(first + i) + h * headDim + d]!
        })
        set(output, r, h * headDim + d, sum / total)
      }
    }
  }
  kv.position += input.rows
}

/** Interleaved pairs: (x₂ᵢ, x₂ᵢ₊₁) turned by position · frequencyᵢ. The angle is float32, as in the reference. */
const rotate = (
  from: MatrixView,
  row: number,
  column: number,
  to: Float32Array,
  offset: number,
  position: number,
  frequencies: Float32Array,
  heads: number,
): void => {
  const headDim = 2 * frequencies.length
  for (let h = 0; h < heads; h++) {
    frequencies.forEach((frequency, pair) => {
      const angle = Math.fround(frequency * position)
      const cosine = Math.fround(Math.cos(angle))
      const sine = Math.fround(Math.sin(angle))
      const c = h * headDim + 2 * pair
      const real = get(from, row, column + c)
      const imaginary = get(from, row, column + c + 1)
      to[offset + c] = real * cosine - imaginary * sine
      to[offset + c + 1] = real * sine + imaginary * cosine
    })
  }
}

const convolution = (
  { x, weights, state, inputActivation, residual, out }: Of<'convolution'>,
  view: View,
): void => {
  const { weight, bias, integers, kernel, stride, dilation, inputChannels, padding } =
    weights as ScalarConvolution
  const memory = state as ScalarConvolutionState
  const output = view(out)
  const added = residual && view(residual)
  const { values, scales } = timeSteps(withHistory(view(x), memory, inputActivation, padding), x, integers)
  for (let t = 0; t < output.rows; t++) {
    for (let o = 0; o < output.columns; o++) {
      let sum = 0
      for (let k = 0; k < kernel; k++) {
        const row = t * stride + k * dilation
        let tap = 0
        for (let i = 0; i < inputChannels; i++) {
          tap += weight[(o * kernel + k) * inputChannels + i]! * values[row * inputChannels + i]!
        }
        sum += tap * scales[row]!
      }
      const y = sum * (integers?.scales[o] ?? 1) + bias[o]!
      set(output, t, o, (added ? get(added, t, o) : 0) + y)
    }
  }
}

const transposedConvolution = (
  { x, weights, state, inputActivation, out }: Of<'transposedConvolution'>,
  view: View,
): void => {
  const { weight, bias, integers, kernel, stride, depthwise, inputChannels } =
    weights as ScalarTransposedConvolution
  const memory = state as ScalarConvolutionState
  const output = view(out)
  const { values, scales } = timeSteps(withHistory(view(x), memory, inputActivation, 'zero'), x, integers)
  const taps = kernel / stride
  for (let t = 0; t < x.rows; t++) {
    for (let phase = 0; phase < stride; phase++) {
      for (let o = 0; o < output.columns; o++) {
        let sum = 0
        for (let tap = 0; tap < taps; tap++) {
          const step = t + taps - 1 - tap
          const row = step * inputChannels
          const k = tap * stride + phase
          if (depthwise) sum += weight[k * output.columns + o]! * values[row + o]!
          else {
            let product = 0
            for (let i = 0; i < inputChannels; i++) {
              product += weight[(k * output.columns + o) * inputChannels + i]! * values[row + i]!
            }
            sum += product * scales[step]!
          }
        }
        const y = sum * (integers?.scales[phase * output.columns + o] ?? 1) + bias[o]!
        set(output, t * stride + phase, o, y)
      }
    }
  }
}

/** Rows as they are, or as integers with a scale each. */
const timeSteps = (
  rows: Float32Array,
  { columns }: { readonly columns: number },
  integers: ScalarMatrix['integers'],
): { values: Float32Array; scales: Float32Array } => {
  const scales = new Float32Array(rows.length / columns).fill(1)
  if (!integers) return { values: rows, scales }
  const values = new Float32Array(rows.length)
  for (let r = 0; r < scales.length; r++) {
    const row = quantizeRow(rows.subarray(r * columns, (r + 1) * columns), integers.inputLimit)
    values.set(row.values, r * columns)
    scales[r] = row.scale
  }
  return { values, scales }
}

/** The state's rows, then the activated rows of x; the state keeps the last of them. `[state.rows + x.rows, columns]` */
const withHistory = (
  x: MatrixView,
  state: ScalarConvolutionState,
  inputActivation: Of<'convolution'>['inputActivation'],
  padding: ScalarConvolution['padding'],
): Float32Array => {
  const activate = activations[inputActivation]
  const rows = new Float32Array((state.rows + x.rows) * x.columns)
  for (let r = 0; r < x.rows; r++) {
    for (let c = 0; c < x.columns; c++) rows[(state.rows + r) * x.columns + c] = activate(get(x, r, c))
  }
  const firstRow = rows.subarray(state.rows * x.columns, (state.rows + 1) * x.columns)
  if (state.fresh && padding === 'replicate') {
    for (let r = 0; r < state.rows; r++) rows.set(firstRow, r * x.columns)
  } else {
    rows.set(state.history)
  }
  state.history.set(rows.subarray(x.rows * x.columns))
  state.fresh = false
  return rows
}

const addVector = ({ x, vector, activation, out }: Of<'addVector'>, view: View): void => {
  const { values } = vector as ScalarVector
  const input = view(x)
  const output = view(out)
  const activate = activations[activation]
  for (let r = 0; r < output.rows; r++) {
    for (let c = 0; c < output.columns; c++) set(output, r, c, activate(get(input, r, c) + values[c]!))
  }
}
