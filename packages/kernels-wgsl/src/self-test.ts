import { fillRotations, type Kernels, record, rotaryFrequencies } from '@pocket/nn'
import { bf16ToF32, f32ToBf16 } from '@pocket/safetensors'

/**
 * A small network with every kind of kernel, run twice and compared with the same in double precision: there are drivers
 * that compile a kernel into something else, and devices whose subgroups do not lie as sums over them take for granted.
 * Rather no sound than a wrong one.
 */

const rows = 3
const width = 64
const heads = 2
const headDim = 16
const inner = heads * headDim
const channels = 8
const kernel = 3
const maxPeriod = 10000
const eps = 1e-5

/** Values of order one. */
const values = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => Math.sin(12.9898 * index + 4.1414 * seed) * 0.7)

/** BF16 values and what they are, of a size that keeps sums of `shape[1]` of them of order one. */
const weight = (shape: number[], seed: number) => {
  const length = shape.reduce((product, size) => product * size, 1)
  const scaled = values(length, seed).map((value) => value / Math.sqrt(shape[1] ?? 1))
  const bytes = new Uint8Array(f32ToBf16(scaled).buffer)
  return { stored: { dtype: 'BF16' as const, shape, bytes }, values: bf16ToF32(bytes) }
}

const qkv = weight([3 * inner, width], 1)
const output = weight([channels, inner], 2)
const convolution = weight([channels, channels, kernel], 3)
const residual = values(rows * channels, 4)
const inputs = [values(rows * width, 5), values(rows * width, 6)]

/** Float32 sums of some dozen terms are off by 1e-6 or so; what goes wrong is off by far more. */
const tolerance = 1e-4

/** Whether an executor computes what it should. */
export const passesSelfTest = async (kernels: Kernels): Promise<boolean> => {
  const found = await compute(kernels)
  const expected = inputs.map(reference())
  return found.every((result, run) => {
    let error = 0
    let size = 0
    result.forEach((value, index) => {
      const wanted = expected[run]?.[index] ?? 0
      error += (value - wanted) ** 2
      size += wanted ** 2
    })
    // A sum that is no number fails as well.
    return Math.sqrt(error / size) < tolerance
  })
}

const compute = async (kernels: Kernels): Promise<Float32Array[]> => {
  const weights = kernels.convolution({ weight: convolution.stored })
  const state = kernels.convolutionState(weights)
  const cache = kernels.kvCache({ heads, headDim, capacity: inputs.length * rows, maxPeriod })
  const inProjection = kernels.matrix({ weight: qkv.stored })
  const outProjection = kernels.matrix({ weight: output.stored })
  const plan = kernels.plan(
    record('self-test', (ops) => {
      const normed = ops.layerNorm(ops.input('x', rows, width), { eps })
      const attended = ops.attention(ops.linear(normed, inProjection), cache)
      const x = ops.linear(attended, outProjection, {
        activation: 'silu',
        residual: ops.input('residual', rows, channels),
      })
      ops.tap('y', ops.convolution(x, weights, state, { inputActivation: 'elu' }))
    }),
  )
  try {
    const results: Float32Array[] = []
    plan.write('residual', residual)
    for (const x of inputs) {
      plan.write('x', x)
      plan.run()
      results.push((await plan.read('y')).data)
    }
    return results
  } finally {
    plan.dispose()
    state.dispose()
    cache.dispose()
  }
}

/** The network in double precision; each call is the next run. */
const reference = (): ((x: Float32Array) => number[]) => {
  const keys: number[][] = []
  const memory: number[][] = []
  let history = Array.from({ length: kernel - 1 }, () => new Array<number>(channels).fill(0))
  return (x) => {
    const activated = rowsOf(x, width).map((row, index) => {
      const attended = attend(multiply(normalise(row), qkv.values), keys, memory)
      return multiply(attended, output.values).map((value, column) => {
        const sum = value / (1 + Math.exp(-value)) + (residual[index * channels + column] ?? 0)
        return sum > 0 ? sum : Math.expm1(sum)
      })
    })
    const all = [...history, ...activated]
    history = all.slice(-(kernel - 1))
    return activated.flatMap((_, time) =>
      Array.from({ length: channels }, (_, out) => {
        let sum = 0
        for (let step = 0; step < kernel; step++) {
          all[time + step]?.forEach((value, channel) => {
            sum += value * (convolution.values[(out * channels + channel) * kernel + step] ?? 0)
          })
        }
        return sum
      }),
    )
  }
}

const rowsOf = (data: Float32Array, columns: number): number[][] =>
  Array.from({ length: data.length / columns }, (_, row) => [
    ...data.subarray(row * columns, (row + 1) * columns),
  ])

const normalise = (row: number[]): number[] => {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length
  const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length
  return row.map((value) => (value - mean) / Math.sqrt(variance + eps))
}

const multiply = (row: number[], matrix: Float32Array): number[] =>
  Array.from({ length: matrix.length / row.length }, (_, out) =>
    row.reduce((sum, value, index) => sum + value * (matrix[out * row.length + index] ?? 0), 0),
  )

/** Adds the row's key and value to `keys` and `memory`, and attends to all there are. */
const attend = (row: number[], keys: number[][], memory: number[][]): number[] => {
  const rotations = new Float32Array(headDim)
  fillRotations(rotations, rotaryFrequencies(headDim, maxPeriod), keys.length, 1)
  const turn = (values: number[]): number[] =>
    values.map((value, index) => {
      const pair = (index % headDim) & ~1
      const [cosine = 0, sine = 0] = rotations.subarray(pair, pair + 2)
      const other = values[index ^ 1] ?? 0
      return index % 2 === 0 ? value * cosine - other * sine : other * sine + value * cosine
    })
  const query = turn(row.slice(0, inner))
  keys.push(turn(row.slice(inner, 2 * inner)))
  memory.push(row.slice(2 * inner))
  return query.map((_, column) => {
    const first = column - (column % headDim)
    const weights = keys.map((key) => {
      let score = 0
      for (let dim = first; dim < first + headDim; dim++) score += (query[dim] ?? 0) * (key[dim] ?? 0)
      return Math.exp(score / Math.sqrt(headDim))
    })
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    return weights.reduce((sum, weight, at) => sum + weight * (memory[at]?.[column] ?? 0), 0) / total
  })
}
