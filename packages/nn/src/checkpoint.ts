import type { Dtype, NdArray } from '@pocket/safetensors'
import { isWeightDtype } from './stored-weight.ts'
import type { StoredWeight } from './weights.ts'

/** What a network needs of a weight file: `SafeTensors` and every `TensorReader` of `@pocket/safetensors` fit. */
export interface WeightReader {
  names(): string[]
  has(name: string): boolean
  info(name: string): { dtype: Dtype; shape: number[]; byteLength: number }
  /** May be read into the beginning of `into`, where that is large enough. */
  bytes(name: string, into?: Uint8Array): Uint8Array | Promise<Uint8Array>
  f32(name: string): NdArray<Float32Array> | Promise<NdArray<Float32Array>>
}

export type CheckpointProblem = 'missing-tensor' | 'wrong-shape' | 'wrong-dtype'

export interface CheckpointOptions {
  /** Stands before every name in a combined file (`mimi.`) and is left out in a file of one network. */
  readonly prefix: string
  /** Makes the network's own error. */
  readonly fail: (problem: CheckpointProblem, message: string) => Error
}

/** The tensors of one network, by their names within it, with shapes checked as they are read. */
export class Checkpoint {
  readonly #reader: WeightReader
  readonly #prefix: string
  readonly #fail: CheckpointOptions['fail']
  #scratch: Uint8Array<ArrayBuffer> | undefined

  constructor(reader: WeightReader, { prefix, fail }: CheckpointOptions) {
    this.#reader = reader
    this.#prefix = reader.names().some((name) => name.startsWith(prefix)) ? prefix : ''
    this.#fail = fail
  }

  has(name: string): boolean {
    return this.#reader.has(this.#prefix + name)
  }

  /** Throws when the tensor is missing or has not as many dimensions as `rank`. */
  shape(name: string, rank?: number): number[] {
    if (!this.has(name))
      throw this.#fail('missing-tensor', `the checkpoint has no tensor ${this.#prefix}${name}`)
    const { shape } = this.#reader.info(this.#prefix + name)
    if (rank !== undefined && shape.length !== rank) {
      throw this.#fail('wrong-shape', `${name} is [${shape.join(', ')}], expected ${rank} dimensions`)
    }
    return shape
  }

  /** Layers are numbered from 0 without gaps: `<prefix>layers.N.linear1.weight`. */
  countLayers(prefix: string): number {
    let count = 0
    while (this.has(`${prefix}layers.${count}.linear1.weight`)) count++
    return count
  }

  /** The tensor widened to float32; its shape must be `shape`. */
  async values(name: string, shape: readonly number[]): Promise<Float32Array> {
    this.#expect(name, shape)
    return (await this.#reader.f32(this.#prefix + name)).data
  }

  /** The tensor as it is stored where executors take it so (BF16, F16, F32), else widened to float32. */
  async stored(name: string, shape: readonly number[], into?: Uint8Array): Promise<StoredWeight> {
    this.#expect(name, shape)
    const { dtype } = this.#reader.info(this.#prefix + name)
    if (isWeightDtype(dtype)) {
      return {
        dtype,
        shape,
        bytes: await this.#reader.bytes(this.#prefix + name, into),
      }
    }
    const { data } = await this.#reader.f32(this.#prefix + name)
    return { dtype: 'F32', shape, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) }
  }

  /**
   * What `use` makes of the tensor as `stored` gives it. The next one is read into the same memory, so nothing may keep
   * the bytes: a model in a file is loaded through the memory of its largest tensor, until `release`.
   */
  async lend<Made>(
    name: string,
    shape: readonly number[],
    use: (weight: StoredWeight) => Made,
  ): Promise<Made> {
    this.#expect(name, shape)
    const scratch = this.#scratch ?? new Uint8Array(this.#largestTensor())
    // Whoever lends before this one is done gets memory of their own.
    this.#scratch = undefined
    try {
      return use(await this.stored(name, shape, scratch))
    } finally {
      this.#scratch = scratch
    }
  }

  /** Bytes of the largest tensor of this network. */
  #largestTensor(): number {
    const names = this.#reader.names().filter((name) => name.startsWith(this.#prefix))
    return names.reduce((largest, name) => Math.max(largest, this.#reader.info(name).byteLength), 0)
  }

  /**
   * Gives the memory that tensors were lent in back, as much as the largest takes: collection would leave it for as long
   * as nothing presses. For when a network is loaded.
   */
  release(): void {
    // Safari before 17.4 has no `transfer`, and leaves it to collection.
    const buffer: Partial<Pick<ArrayBuffer, 'transfer'>> | undefined = this.#scratch?.buffer
    buffer?.transfer?.(0)
    this.#scratch = undefined
  }

  #expect(name: string, shape: readonly number[]): void {
    const found = this.shape(name)
    if (found.length !== shape.length || found.some((size, axis) => size !== shape[axis])) {
      throw this.#fail('wrong-shape', `${name} is [${found.join(', ')}], expected [${shape.join(', ')}]`)
    }
    const { dtype } = this.#reader.info(this.#prefix + name)
    if (!floatDtypes.has(dtype)) {
      throw this.#fail('wrong-dtype', `${name} holds ${dtype} values, expected BF16, F16, F32 or F64`)
    }
  }
}

const floatDtypes = new Set<Dtype>(['BF16', 'F16', 'F32', 'F64'])
