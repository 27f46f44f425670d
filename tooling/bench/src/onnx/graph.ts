import { bytesField, integerField, joined, type Message, messageField } from './protobuf.ts'

/** Elements of a tensor, by the numbers of onnx.proto's `TensorProto.DataType`. */
const dataTypes = { float: 1, uint8: 2, int8: 3, int64: 7 } as const

/** `AttributeProto.AttributeType` */
const attributeTypes = { int: 2, ints: 7 } as const

/** Versions of the format and of its operations that have all that is used here, and that old runtimes know too. */
const irVersion = 7
const operationsVersion = 13

/** A value of a graph, by name. */
export type Value = string & { readonly isValue?: true }

/** An ONNX graph with one input and one output, float32 both, written operation by operation. Numbers are onnx.proto's. */
export class Graph {
  readonly #nodes: Message[] = []
  readonly #initializers: Message[] = []
  #count = 0

  /** Appends an operation; returns its outputs' names. Attributes are whole numbers, or lists of them. */
  node(
    type: string,
    inputs: readonly Value[],
    {
      outputs = 1,
      attributes = {},
    }: { outputs?: number; attributes?: Record<string, number | number[]> } = {},
  ): Value[] {
    const names = Array.from({ length: outputs }, () => this.#name())
    this.#nodes.push(
      messageField(
        1,
        ...inputs.map((input) => bytesField(1, input)),
        ...names.map((name) => bytesField(2, name)),
        bytesField(4, type),
        ...Object.entries(attributes).map(attribute),
      ),
    )
    return names
  }

  /** The same for an operation with one output. */
  apply(type: string, inputs: readonly Value[], attributes: Record<string, number | number[]> = {}): Value {
    return this.node(type, inputs, { attributes })[0]!
  }

  /** A constant tensor. */
  constant(
    type: keyof typeof dataTypes,
    shape: readonly number[],
    { buffer, byteOffset, byteLength }: ArrayBufferView,
  ): Value {
    const name = this.#name()
    this.#initializers.push(
      messageField(
        5,
        ...shape.map((size) => integerField(1, size)),
        integerField(2, dataTypes[type]),
        bytesField(8, name),
        bytesField(9, new Uint8Array(buffer, byteOffset, byteLength)),
      ),
    )
    return name
  }

  /** Whole numbers, such as a shape. */
  integers(values: readonly number[]): Value {
    return this.constant('int64', [values.length], BigInt64Array.from(values, BigInt))
  }

  /** The model as a file. `input` has a dimension of any size where its shape has a name. */
  toBytes(
    input: { readonly name: Value; readonly shape: readonly (number | string)[] },
    output: Value,
  ): Uint8Array<ArrayBuffer> {
    const graph = messageField(
      7,
      ...this.#nodes,
      bytesField(2, 'graph'),
      ...this.#initializers,
      messageField(11, valueInfo(input.name, input.shape)),
      messageField(12, valueInfo(output)),
    )
    return joined([
      ...integerField(1, irVersion),
      ...graph,
      ...messageField(8, bytesField(1, ''), integerField(2, operationsVersion)),
    ])
  }

  #name(): Value {
    return `value${this.#count++}`
  }
}

const attribute = ([name, value]: [string, number | number[]]): Message =>
  typeof value === 'number'
    ? messageField(5, bytesField(1, name), integerField(3, value), integerField(20, attributeTypes.int))
    : messageField(
        5,
        bytesField(1, name),
        ...value.map((item) => integerField(8, item)),
        integerField(20, attributeTypes.ints),
      )

/** A float32 tensor, of a known shape or any. */
const valueInfo = (name: Value, shape?: readonly (number | string)[]): Message => {
  const dimensions = (shape ?? []).map((size) =>
    messageField(1, typeof size === 'number' ? integerField(1, size) : bytesField(2, size)),
  )
  const tensor = messageField(
    1,
    integerField(1, dataTypes.float),
    ...(shape ? [messageField(2, ...dimensions)] : []),
  )
  return [...bytesField(1, name), ...messageField(2, tensor)]
}
