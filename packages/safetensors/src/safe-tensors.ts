import { SafeTensorsError } from './error.ts'
import { recognisable } from './foreign-file.ts'
import { lengthBytes, parseHeader, readHeaderLength } from './header.ts'
import { bytesOf } from './memory.ts'
import { type NdArray, rowMajor } from './nd-array.ts'
import type { TensorIndex, TensorInfo } from './tensor-index.ts'
import { f32Conversion, i64Conversion } from './values.ts'

/**
 * A safetensors file that is wholly in memory; every answer is immediate.
 *
 * The bytes are not copied: `bytes`, and `f32` and `i64` where they can, return views into them. Whoever
 * writes to a view writes to the file's bytes.
 */
export class SafeTensors {
  readonly #index: TensorIndex
  readonly #data: Uint8Array

  /**
   * Checks the whole header, so that no later read can fail for the file's fault.
   * Throws SafeTensorsError for anything that is no sound safetensors file: see the codes.
   */
  static fromBytes(bytes: Uint8Array): SafeTensors {
    if (!ArrayBuffer.isView(bytes)) {
      throw new SafeTensorsError('invalid-argument', `fromBytes() got ${typeof bytes}: expected a Uint8Array`)
    }
    const file = bytesOf(bytes)
    const headerLength = readHeaderLength(file.subarray(0, recognisable), file.length)
    const dataBegin = lengthBytes + headerLength
    const index = parseHeader(file.subarray(lengthBytes, dataBegin), file.length - dataBegin)
    return new SafeTensors(index, file.subarray(dataBegin))
  }

  private constructor(index: TensorIndex, data: Uint8Array) {
    this.#index = index
    this.#data = data
  }

  /** The file's `__metadata__`; empty if it has none. Frozen, and without a prototype. */
  get metadata(): Readonly<Record<string, string>> {
    return this.#index.metadata
  }

  /** The tensors' names, in the order of their data. */
  names(): string[] {
    return this.#index.names()
  }

  has(name: string): boolean {
    return this.#index.has(name)
  }

  /** Throws `unknown-tensor`, as everything below does. */
  info(name: string): TensorInfo {
    return this.#index.info(name)
  }

  /** The tensor's bytes, row-major and little-endian: a view of the file. */
  bytes(name: string): Uint8Array {
    const { begin, end } = this.#index.entry(name)
    return this.#data.subarray(begin, end)
  }

  /**
   * The tensor as float32, row-major. F32 whose place in memory is a multiple of 4 is a view of the file (every
   * file this package or the reference library wrote, in a buffer of its own); F32 elsewhere is copied; BF16
   * and F16 are widened exactly; F64 is rounded to nearest. Throws `unsupported-dtype` for any other dtype.
   */
  f32(name: string): NdArray<Float32Array> {
    const { dtype, shape } = this.#index.entry(name)
    return rowMajor(f32Conversion(dtype, name)(this.bytes(name)), shape)
  }

  /**
   * The tensor's 64-bit integers, row-major: a view of the file where its place in memory is a multiple of 8,
   * otherwise a copy. Throws `unsupported-dtype` unless it is I64.
   */
  i64(name: string): BigInt64Array {
    return i64Conversion(this.#index.entry(name).dtype, name)(this.bytes(name))
  }
}
