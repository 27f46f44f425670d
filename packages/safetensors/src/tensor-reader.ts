import { SafeTensorsError } from './error.ts'
import { recognisable } from './foreign-file.ts'
import { lengthBytes, parseHeader, readHeaderLength } from './header.ts'
import { type NdArray, rowMajor } from './nd-array.ts'
import type { TensorIndex, TensorInfo } from './tensor-index.ts'
import { f32Conversion, i64Conversion } from './values.ts'

/**
 * A safetensors file that stays where it is: on disk, in a Blob, behind a server that answers ranges. The
 * header is in memory; tensors are read one by one, when asked for. The members are those of SafeTensors,
 * and a function that awaits what it reads takes either.
 */
export interface TensorReader {
  /** The file's `__metadata__`; empty if it has none. Frozen, and without a prototype. */
  readonly metadata: Readonly<Record<string, string>>
  /** The tensors' names, in the order of their data: reading in this order reads the file front to back. */
  names(): string[]
  has(name: string): boolean
  /** Throws `unknown-tensor`; everything below rejects with it. */
  info(name: string): TensorInfo
  /**
   * The tensor's bytes, row-major and little-endian, the caller's own. Where `into` is large enough, files are read into
   * its beginning instead of new memory; other sources take no notice of it.
   */
  bytes(name: string, into?: Uint8Array): Promise<Uint8Array>
  /**
   * The tensor as float32, row-major, the caller's own: F32 as it is, BF16 and F16 widened exactly, F64
   * rounded to nearest. Rejects with `unsupported-dtype` for any other dtype, before anything is read.
   */
  f32(name: string): Promise<NdArray<Float32Array>>
  /** The tensor's 64-bit integers, row-major. Rejects with `unsupported-dtype` unless it is I64. */
  i64(name: string): Promise<BigInt64Array>
}

/** Bytes that can be read in part. */
export interface ByteSource {
  /** Of the whole, in bytes. */
  readonly size: number
  /**
   * Exactly `length` bytes from `offset` on, which the reader may keep; in the beginning of `into` where that holds them
   * and the source likes. Calls overlap when reads of tensors do. What it rejects with reaches the reader's caller as it
   * is.
   */
  read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>
}

/**
 * Opens a safetensors file of any kind that can be read in ranges: reads its header, in two reads, and
 * checks it. Throws SafeTensorsError as SafeTensors.fromBytes does, and `read-failed` where the source
 * returns another number of bytes than it was asked for.
 */
export const openSource = async (source: ByteSource): Promise<TensorReader> =>
  new SourceReader(source, await readIndex(source))

export const readIndex = async (source: ByteSource): Promise<TensorIndex> => {
  const { size } = source
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new SafeTensorsError('invalid-argument', `the source's size is ${size}: expected a number of bytes`)
  }
  const start = await readExactly(source, 0, Math.min(size, recognisable))
  const headerLength = readHeaderLength(start, size)
  const header = await readExactly(source, lengthBytes, headerLength)
  return parseHeader(header, size - lengthBytes - headerLength)
}

export class SourceReader implements TensorReader {
  readonly #source: ByteSource
  readonly #index: TensorIndex

  constructor(source: ByteSource, index: TensorIndex) {
    this.#source = source
    this.#index = index
  }

  get metadata(): Readonly<Record<string, string>> {
    return this.#index.metadata
  }

  names(): string[] {
    return this.#index.names()
  }

  has(name: string): boolean {
    return this.#index.has(name)
  }

  info(name: string): TensorInfo {
    return this.#index.info(name)
  }

  async bytes(name: string, into?: Uint8Array): Promise<Uint8Array> {
    const { begin, end } = this.#index.entry(name)
    return readExactly(this.#source, this.#index.dataBegin + begin, end - begin, into)
  }

  async f32(name: string): Promise<NdArray<Float32Array>> {
    const { dtype, shape } = this.#index.entry(name)
    const convert = f32Conversion(dtype, name)
    return rowMajor(convert(await this.bytes(name)), shape)
  }

  async i64(name: string): Promise<BigInt64Array> {
    const convert = i64Conversion(this.#index.entry(name).dtype, name)
    return convert(await this.bytes(name))
  }
}

const readExactly = async (
  source: ByteSource,
  offset: number,
  length: number,
  into?: Uint8Array,
): Promise<Uint8Array> => {
  if (length === 0) return new Uint8Array(0)
  const bytes = await source.read(offset, length, into)
  if (bytes.length === length) return bytes
  throw new SafeTensorsError(
    'read-failed',
    `the source gave ${bytes.length} bytes at ${offset}: expected ${length}`,
  )
}
