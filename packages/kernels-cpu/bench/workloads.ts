import {
  type Kernels,
  type Matrix,
  type Operations,
  type Plan,
  type Precision,
  record,
  type StoredWeight,
  type Tensor,
} from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'

/** What is timed: plans in the sizes of english_2026-04, with weights that keep activations of order one. */
export interface Workload {
  readonly name: string
  /** Makes weights, states and the plan; returns what is timed. */
  prepare(kernels: Kernels): () => void
  /** Bytes of weights that a run reads. */
  readonly bytes?: number
  /** Multiplications and additions of a run's products. */
  readonly flops?: number
}

/** How the weights are kept; integers are made of bfloat16 ones. */
type Kept = 'F32' | 'BF16' | 'int8' | 'int16'

const bytesPerWeight: Record<Kept, number> = { F32: 4, BF16: 2, int16: 2, int8: 1 }

const dModel = 1024
const layers = 6
const backboneWeights = layers * dModel * (3 * dModel + dModel + 4 * dModel + 4 * dModel)

export const backboneStep = (kept: Kept): Workload => ({
  name: `backbone products, 1 row, ${kept}`,
  bytes: backboneWeights * bytesPerWeight[kept],
  flops: 2 * backboneWeights,
  prepare: (kernels) => backbone(kernels, 1, kept),
})

export const backbonePrompt = (rows: number, kept: Kept): Workload => ({
  name: `backbone products, ${rows} rows, ${kept}`,
  flops: 2 * backboneWeights * rows,
  prepare: (kernels) => backbone(kernels, rows, kept),
})

const backbone = (kernels: Kernels, rows: number, kept: Kept): (() => void) =>
  runOf(kernels, (ops) => {
    let x = ops.input('x', rows, dModel)
    const linear = (input: Tensor, outputs: number): Tensor =>
      ops.linear(input, matrix(kernels, input.columns, outputs, kept))
    for (let layer = 0; layer < layers; layer++) {
      x = linear(ops.columns(linear(x, 3 * dModel), 0, dModel), dModel)
      x = linear(linear(x, 4 * dModel), dModel)
    }
    return x
  })

export const backboneAttention = (positions: number): Workload => ({
  name: `backbone attention, ${layers} layers, ${positions} positions`,
  bytes: layers * positions * dModel * 2 * 4,
  prepare: (kernels) => attention(kernels, { layers, rows: 1, heads: 16, positions }),
})

export const codecAttention = (): Workload => ({
  name: 'codec attention, 2 layers, 16 rows, window 250',
  prepare: (kernels) => attention(kernels, { layers: 2, rows: 16, heads: 8, positions: 250, window: 250 }),
})

const attention = (
  kernels: Kernels,
  {
    layers,
    rows,
    heads,
    positions,
    window,
  }: { layers: number; rows: number; heads: number; positions: number; window?: number },
): (() => void) => {
  const headDim = 64
  const width = heads * headDim
  // Room for a while, so that filling the caches anew does not disturb the typical run.
  const capacity = positions + 64 * rows
  const caches = Array.from({ length: layers }, () =>
    kernels.kvCache({ heads, headDim, capacity, maxPeriod: 10000, ...(window && { window }) }),
  )
  const run = runOf(kernels, (ops) => {
    const x = ops.input('x', rows, 3 * width)
    return caches.map((cache) => ops.attention(x, cache)).at(-1)!
  })
  const past = noise(positions * width, 1)
  return () => {
    for (const cache of caches) {
      const isFull = cache.position + rows > capacity
      if (cache.position === 0 || (window === undefined && isFull)) cache.load(past, past, positions)
    }
    run()
  }
}

/** One frame of Mimi's decoder after its upsampling: two transformer layers at 16 positions, then SEANet. */
export const codecProducts = (kept: Kept): Workload => ({
  name: `codec products, 1 frame, ${kept}`,
  flops: codecFlops,
  prepare: (kernels) => runOf(kernels, (ops) => codec(kernels, ops, kept, 'none')),
})

export const codecWithActivations = (kept: Kept): Workload => ({
  name: `the same with ELU, ${kept}`,
  flops: codecFlops,
  prepare: (kernels) => runOf(kernels, (ops) => codec(kernels, ops, kept, 'elu')),
})

const ratios = [6, 5, 4]
const codecWidth = 512
const positions = 16

const codecFlops = (() => {
  let flops = 2 * 2 * positions * 12 * codecWidth ** 2
  let rows = positions
  let channels = codecWidth
  flops += 2 * rows * channels * 7 * channels
  for (const ratio of ratios) {
    flops += 2 * rows * (2 * channels) * (ratio * (channels / 2))
    rows *= ratio
    channels /= 2
    flops += 2 * rows * (channels / 2) * (3 * channels + channels)
  }
  return flops + 2 * rows * 3 * channels
})()

/**
 * Each layer of the codec by itself, ELU included where it has one. Four of each take turns, so that weights come from as
 * far as they do in a frame.
 */
export const codecLayers = (kept: Kept): Workload[] => {
  const layer = (
    name: string,
    [rows, columns]: readonly [rows: number, columns: number],
    weights: number,
    describe: (layers: CodecLayers, x: Tensor, ops: Operations) => Tensor,
  ): Workload => ({
    name: `codec layer, ${rows} rows, ${name}, ${kept}`,
    flops: 2 * rows * weights,
    prepare: (kernels) => {
      const runs = Array.from({ length: 4 }, () =>
        runOf(kernels, (ops) =>
          describe(layersOf(kernels, ops, kept, 'elu'), ops.input('x', rows, columns), ops),
        ),
      )
      let turn = 0
      return () => runs[turn++ % runs.length]!()
    },
  })
  const all = [512, 1536, 2048].map((outputs) =>
    layer(`512 to ${outputs}`, [positions, 512], 512 * outputs, ({ linear }, x) => linear(x, outputs)),
  )
  all.push(layer('2048 to 512', [positions, 2048], 2048 * 512, ({ linear }, x) => linear(x, 512)))
  all.push(
    layer('7 of 512 to 512', [positions, 512], 7 * 512 ** 2, ({ convolution }, x) => convolution(x, 512, 7)),
  )
  let rows = positions
  let channels = codecWidth
  for (const ratio of ratios) {
    const [wide, half] = [channels, channels / 2]
    const up = `2 of ${wide} to ${ratio} of ${half}`
    all.push(layer(up, [rows, wide], 2 * wide * ratio * half, ({ upsampling }, x) => upsampling(x, ratio)))
    rows *= ratio
    channels = half
    const narrow = half / 2
    const [in3, in1] = [`3 of ${half} to ${narrow}`, `${narrow} to ${half}, residual`]
    all.push(layer(in3, [rows, half], 3 * half * narrow, ({ convolution }, x) => convolution(x, narrow, 3)))
    all.push(
      layer(in1, [rows, narrow], narrow * half, ({ convolution }, x, ops) =>
        convolution(x, half, 1, ops.input('residual', x.rows, half)),
      ),
    )
  }
  all.push(
    layer(`3 of ${channels} to 1`, [rows, channels], 3 * channels, ({ convolution }, x) =>
      convolution(x, 1, 3),
    ),
  )
  return all
}

const codec = (kernels: Kernels, ops: Operations, kept: Kept, inputActivation: 'none' | 'elu'): Tensor => {
  const { linear, convolution, upsampling } = layersOf(kernels, ops, kept, inputActivation)
  let x = ops.input('x', positions, codecWidth)
  for (let layer = 0; layer < 2; layer++) {
    x = linear(ops.columns(linear(x, 3 * codecWidth), 0, codecWidth), codecWidth)
    x = linear(linear(x, 4 * codecWidth), codecWidth)
  }
  x = convolution(x, codecWidth, 7)
  for (const ratio of ratios) {
    x = upsampling(x, ratio)
    x = convolution(convolution(x, x.columns / 2, 3), x.columns, 1, x)
  }
  return convolution(x, 1, 3)
}

type CodecLayers = ReturnType<typeof layersOf>

const layersOf = (kernels: Kernels, ops: Operations, kept: Kept, inputActivation: 'none' | 'elu') => ({
  linear: (x: Tensor, outputs: number): Tensor => ops.linear(x, matrix(kernels, x.columns, outputs, kept)),

  convolution: (x: Tensor, outputs: number, kernel: number, residual?: Tensor): Tensor => {
    const weights = kernels.convolution({
      weight: weight([outputs, x.columns, kernel], x.columns * kernel, kept),
      precision: precisionOf(kept),
    })
    const state = kernels.convolutionState(weights)
    return ops.convolution(x, weights, state, { inputActivation, ...(residual && { residual }) })
  },

  upsampling: (x: Tensor, ratio: number): Tensor => {
    const weights = kernels.transposedConvolution({
      weight: weight([x.columns, x.columns / 2, 2 * ratio], 2 * x.columns, kept),
      stride: ratio,
      precision: precisionOf(kept),
    })
    return ops.transposedConvolution(x, weights, kernels.convolutionState(weights), { inputActivation })
  },
})

const runOf = (kernels: Kernels, describe: (ops: Operations) => Tensor): (() => void) => {
  const recording = record('bench', (ops) => {
    ops.tap('out', describe(ops))
  })
  const plan: Plan = kernels.plan(recording)
  for (const [name, { rows, columns }] of recording.inputs) plan.write(name, noise(rows * columns, 2))
  return () => plan.run()
}

const matrix = (kernels: Kernels, inputs: number, outputs: number, kept: Kept): Matrix =>
  kernels.matrix({ weight: weight([outputs, inputs], inputs, kept), precision: precisionOf(kept) })

const precisionOf = (kept: Kept): Precision => (kept === 'int8' || kept === 'int16' ? kept : 'stored')

const weight = (shape: number[], inputs: number, kept: Kept): StoredWeight => {
  const count = shape.reduce((product, size) => product * size, 1)
  const values = noise(count, 3, Math.sqrt(3 / inputs))
  const dtype = kept === 'F32' ? 'F32' : 'BF16'
  const { buffer, byteLength } = dtype === 'BF16' ? f32ToBf16(values) : values
  return { dtype, shape, bytes: new Uint8Array(buffer, 0, byteLength) }
}

/** Uniform between −scale and scale. */
const noise = (length: number, seed: number, scale = 1): Float32Array<ArrayBuffer> => {
  const values = new Float32Array(length)
  let state = Math.imul(seed, 0x9e3779b9) | 1
  for (let i = 0; i < length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    values[i] = state * 2 ** -31 * scale
  }
  return values
}
