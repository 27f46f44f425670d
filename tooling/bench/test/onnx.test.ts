import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backboneGraph, codecGraph, flowHeadGraph } from '../src/onnx/full-graphs.ts'
import { Graph } from '../src/onnx/graph.ts'
import { bytesField, integerField, joined, messageField } from '../src/onnx/protobuf.ts'
import { type Fields, messages, numbers, parse, texts } from './wire.ts'

describe('the wire format', () => {
  it('writes the bytes of the documentation of protocol buffers', () => {
    expect([...joined(integerField(1, 150))]).toEqual([0x08, 0x96, 0x01])
    expect([...joined(bytesField(2, 'testing'))]).toEqual([0x12, 7, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67])
    expect([...joined(messageField(3, integerField(1, 150)))]).toEqual([0x1a, 3, 0x08, 0x96, 0x01])
  })

  it('is read back as it was written', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.integer({ min: 1, max: 500 }), fc.string(), (value, field, text) => {
        const bytes = joined([...integerField(field, value), ...messageField(field + 1, bytesField(1, text))])
        const fields = parse(bytes)
        expect(numbers(fields, field)).toEqual([value])
        expect(messages(fields, field + 1).map((inner) => texts(inner, 1))).toEqual([[text]])
      }),
    )
  })

  it('writes tensors with shape, type and bytes', () => {
    const graph = new Graph()
    const weights = graph.constant('float', [2, 3], Float32Array.of(1, 2, 3, 4, 5, 6))
    const out = graph.apply('MatMul', ['x', weights])
    const model = parse(graph.toBytes({ name: 'x', shape: ['rows', 2] }, out))
    const [tensor] = messages(messages(model, 7)[0]!, 5)
    expect(numbers(tensor!, 1)).toEqual([2, 3])
    expect(numbers(tensor!, 2)).toEqual([1])
    const bytes = tensor!.get(9)![0] as Uint8Array
    expect([...new Float32Array(bytes.slice().buffer)]).toEqual([1, 2, 3, 4, 5, 6])
  })
})

/** Every value is there before it is used, and the output is one of them. Returns how often each operation occurs. */
const operationsOf = (graph: Fields): Record<string, number> => {
  const known = new Set([...messages(graph, 5).flatMap((tensor) => texts(tensor, 8)), 'x'])
  const counts: Record<string, number> = {}
  for (const node of messages(graph, 1)) {
    for (const input of texts(node, 1)) expect(known, input).toContain(input)
    for (const output of texts(node, 2)) known.add(output)
    const [type = ''] = texts(node, 4)
    counts[type] = (counts[type] ?? 0) + 1
  }
  expect(known).toContain(texts(messages(graph, 12)[0]!, 1)[0])
  return counts
}

const weightBytes = (graph: Fields): number =>
  messages(graph, 5).reduce((sum, tensor) => sum + (tensor.get(9)![0] as Uint8Array).length, 0)

const readGraph = ({ bytes }: { bytes: Uint8Array }): Fields => messages(parse(bytes), 7)[0]!

describe('the graphs of full size', () => {
  it('the backbone has four products a layer, and both ends', () => {
    const graph = readGraph(backboneGraph('f32'))
    expect(operationsOf(graph)).toMatchObject({ MatMul: 6 * 4 + 2, Relu: 6, Add: 12 })
    expect(weightBytes(graph) / 4 / (6 * 12 * 1024 ** 2 + 33 * 1024)).toBeCloseTo(1, 5)
  })

  it('in int8 its products quantise what they read', () => {
    const graph = readGraph(backboneGraph('int8'))
    expect(operationsOf(graph)).toMatchObject({ MatMulInteger: 24, DynamicQuantizeLinear: 24, MatMul: 2 })
  })

  it('the flow head has all matrices but those of the time embeddings', () => {
    expect(operationsOf(readGraph(flowHeadGraph('f32')))).toMatchObject({ MatMul: 2 + 6 * 3 + 2 })
  })

  it('the codec has its transformer, eight convolutions and three transposed ones', () => {
    const counts = operationsOf(readGraph(codecGraph()))
    expect(counts).toMatchObject({ MatMul: 8, Conv: 8, ConvTranspose: 3, Elu: 10, Add: 4 + 3 })
  })
})
