import {
  backboneLayers,
  codecConvolutions,
  codecLayers,
  codecPositions,
  flowHeadMatrices,
  type LayerShapes,
  stepMatrices,
} from '../full-shapes.ts'
import { noise } from '../noise.ts'
import { Graph, type Value } from './graph.ts'
import { type Linear, linears } from './linear.ts'

/**
 * Graphs with the products and convolutions of the model of full size, for other runtimes. They leave out what would
 * only cost a rival time: attention, norms, what a stream remembers. Weights are noise.
 */
export interface StageGraph {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Columns of its input `x`, `[rows, columns]`. */
  readonly columns: number
}

/** A transformer's layers without attention: `x` `[rows, width]`. */
const layers = (graph: Graph, input: Value, shapes: readonly LayerShapes[], linear: Linear): Value =>
  shapes.reduce((x, { inProjection, outProjection, linear1, linear2 }) => {
    const heads = firstColumns(graph, linear(graph, x, inProjection), outProjection[1]!)
    const attended = graph.apply('Add', [x, linear(graph, heads, outProjection)])
    const inner = graph.apply('Relu', [linear(graph, attended, linear1)])
    return graph.apply('Add', [attended, linear(graph, inner, linear2)])
  }, input)

const firstColumns = (graph: Graph, x: Value, count: number): Value =>
  graph.apply('Slice', [x, graph.integers([0]), graph.integers([count]), graph.integers([1])])

/** Input `[rows, dModel]`, of any number of rows. */
export const backboneGraph = (precision: 'f32' | 'int8'): StageGraph => {
  const graph = new Graph()
  const [wayIn, eos] = [...stepMatrices].sort(([a = 0], [b = 0]) => b - a)
  const columns = wayIn![0]!
  const embedded = linears.f32(graph, firstColumns(graph, 'x', wayIn![1]!), wayIn!)
  const hidden = layers(graph, embedded, backboneLayers, linears[precision])
  const logit = linears.f32(graph, hidden, eos!)
  return { bytes: graph.toBytes({ name: 'x', shape: ['rows', columns] }, logit), columns }
}

/** Every matrix of the flow head once, each on as many values of the input as it takes. */
export const flowHeadGraph = (precision: 'f32' | 'int8'): StageGraph => {
  const graph = new Graph()
  const columns = Math.max(...flowHeadMatrices.map(([, inputs]) => inputs!))
  const sums = flowHeadMatrices.map((shape) => {
    const y = linears[precision](graph, firstColumns(graph, 'x', shape[1]!), shape)
    return graph.apply('ReduceSum', [y, graph.integers([1])])
  })
  const all = sums.reduce((sum, value) => graph.apply('Add', [sum, value]))
  return { bytes: graph.toBytes({ name: 'x', shape: [1, columns] }, all), columns }
}

/** Input `[positions, width]`; the transformer, then the convolutions with their activations. */
export const codecGraph = (): StageGraph => {
  const graph = new Graph()
  const columns = codecLayers[0]!.outProjection[0]!
  const hidden = layers(graph, 'x', codecLayers, linears.f32)
  const channelsFirst = graph.apply('Transpose', [hidden], { perm: [1, 0] })
  const shape = graph.integers([1, columns, codecPositions])
  const out = convolutions(graph, graph.apply('Reshape', [channelsFirst, shape]))
  return { bytes: graph.toBytes({ name: 'x', shape: [codecPositions, columns] }, out), columns }
}

/** One convolution, then per stage a transposed one and two whose result is added to their input, then one more. */
const convolutions = (graph: Graph, input: Value): Value => {
  let x = input
  let residual: Value | undefined
  codecConvolutions.forEach(({ isTransposed, shape }, index) => {
    const activated = index === 0 ? x : graph.apply('Elu', [x])
    const y = isTransposed
      ? transposedConvolution(graph, activated, shape)
      : convolution(graph, activated, shape)
    const isUnitsFirst = codecConvolutions[index - 1]?.isTransposed === true
    const isUnitsSecond = codecConvolutions[index - 2]?.isTransposed === true
    if (isUnitsFirst) residual = x
    x = isUnitsSecond && residual ? graph.apply('Add', [y, residual]) : y
  })
  return x
}

const convolution = (graph: Graph, x: Value, shape: readonly number[]): Value => {
  const [outputs = 0, inputs = 0, kernel = 0] = shape
  const weights = graph.constant(
    'float',
    shape,
    noise(outputs * inputs * kernel, Math.sqrt(3 / inputs / kernel)),
  )
  const bias = graph.constant('float', [outputs], new Float32Array(outputs))
  return graph.apply('Conv', [x, weights, bias], { kernel_shape: [kernel], pads: [kernel - 1, 0] })
}

const transposedConvolution = (graph: Graph, x: Value, shape: readonly number[]): Value => {
  const [inputs = 0, outputs = 0, kernel = 0] = shape
  const stride = kernel / 2
  const weights = graph.constant('float', shape, noise(inputs * outputs * kernel, Math.sqrt(1.5 / inputs)))
  const bias = graph.constant('float', [outputs], new Float32Array(outputs))
  return graph.apply('ConvTranspose', [x, weights, bias], {
    kernel_shape: [kernel],
    strides: [stride],
    pads: [0, stride],
  })
}
