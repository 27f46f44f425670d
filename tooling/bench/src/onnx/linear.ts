import { noise } from '../noise.ts'
import type { Graph, Value } from './graph.ts'

/** A product of `x` with weights of `[outputs, inputs]`, which are noise. */
export type Linear = (graph: Graph, x: Value, shape: readonly number[]) => Value

export const linears: Record<'f32' | 'int8', Linear> = {
  f32: (graph, x, [outputs = 0, inputs = 0]) => {
    const weights = graph.constant('float', [inputs, outputs], noise(inputs * outputs, Math.sqrt(3 / inputs)))
    return graph.apply('MatMul', [x, weights])
  },

  /**
   * What onnxruntime's own dynamic quantisation writes, and what it knows to fuse: x in 8 bits by its greatest values,
   * weights in 8 bits with a scale for each output.
   */
  int8: (graph, x, [outputs = 0, inputs = 0]) => {
    const scale = Math.sqrt(3 / inputs) / 127
    const values = Int8Array.from(noise(inputs * outputs, 127))
    const weights = graph.constant('int8', [inputs, outputs], values)
    const scales = graph.constant('float', [outputs], new Float32Array(outputs).fill(scale))
    const zero = graph.constant('int8', [outputs], new Int8Array(outputs))
    const [quantised, xScale, xZero] = graph.node('DynamicQuantizeLinear', [x], { outputs: 3 })
    const sums = graph.apply('MatMulInteger', [quantised!, weights, xZero!, zero])
    const allScales = graph.apply('Mul', [xScale!, scales])
    return graph.apply('Mul', [graph.apply('Cast', [sums], { to: castToFloat }), allScales])
  },
}

/** `TensorProto.DataType` */
const castToFloat = 1
