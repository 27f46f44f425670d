import { arraysOf, asDtype, byteLengthOf, type Dtype, dtypeRank } from './dtype.ts'
import { quote, SafeTensorsError } from './error.ts'
import { lengthBytes, metadataKey } from './header.ts'
import { longestHeader, mostDimensions, mostMembers } from './limits.ts'
import { allocate, bytesOf } from './memory.ts'

/** A tensor to write. */
export interface TensorData {
  readonly dtype: Dtype
  /** Sizes, outermost first; `[]` for a scalar. */
  readonly shape: readonly number[]
  /**
   * The values, row-major and without gaps: the dtype's own typed array (for BF16 and F16 a Uint16Array of bit
   * patterns), or their little-endian bytes as a Uint8Array or DataView.
   */
  readonly data: ArrayBufferView
}

interface PlacedTensor {
  readonly name: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly bytes: Uint8Array
}

/**
 * Makes a safetensors file. The same tensors give the same bytes, whatever order they come in, and but for
 * the order of metadata (sorted here, random there) the bytes are the reference library's: 64-bit dtypes first
 * and bytes last, then by name, so that every tensor is aligned; the header is padded with spaces to 8 bytes.
 *
 * Throws SafeTensorsError before anything is allocated: `size-mismatch` where data and shape disagree,
 * `invalid-tensor`, `unknown-dtype`, `invalid-shape`, `invalid-metadata`, `header-too-large`.
 */
export const writeSafeTensors = (
  tensors: Readonly<Record<string, TensorData>>,
  metadata?: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer> => {
  const placed = Object.entries(tensors).map(([name, tensor]) => checkedTensor(name, tensor))
  // One member is the metadata's.
  expectAtMost(mostMembers - 1, placed.length, 'tensors')
  placed.sort((a, b) => dtypeRank(b.dtype) - dtypeRank(a.dtype) || compareText(a.name, b.name))
  const header = encodeHeader(placed, metadata)

  const dataLength = placed.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const file = new Uint8Array(allocate(lengthBytes + header.length + dataLength))
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true)
  file.set(header, lengthBytes)
  let position = lengthBytes + header.length
  for (const { bytes } of placed) {
    file.set(bytes, position)
    position += bytes.length
  }
  return file
}

const checkedTensor = (name: string, { dtype, shape, data }: TensorData): PlacedTensor => {
  const where = `tensor ${quote(name)}`
  if (name === metadataKey) {
    throw new SafeTensorsError('invalid-tensor', `${where}: the format keeps this name for the metadata`)
  }
  expectWellFormed(name, 'invalid-tensor', where)
  asDtype(dtype, where)
  if (!Array.isArray(shape) || !shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw new SafeTensorsError('invalid-shape', `${where} has the shape [${shape}]: expected whole numbers`)
  }
  if (shape.length > mostDimensions) {
    throw new SafeTensorsError('invalid-shape', `${where} has more than ${mostDimensions} dimensions`)
  }
  if (!ArrayBuffer.isView(data)) {
    throw new SafeTensorsError('invalid-tensor', `${where} has data that is no typed array or DataView`)
  }
  const kind = Object.prototype.toString.call(data).slice('[object '.length, -1)
  if (!rawBytes.includes(kind) && !arraysOf(dtype).includes(kind)) {
    const expected = [...arraysOf(dtype), 'Uint8Array'].join(' or ')
    throw new SafeTensorsError('invalid-tensor', `${where} is ${dtype} in a ${kind}: expected ${expected}`)
  }
  const expected = byteLengthOf(dtype, shape, where)
  if (data.byteLength !== expected) {
    throw new SafeTensorsError(
      'size-mismatch',
      `${where} has ${data.byteLength} bytes: expected ${expected}, since it is ${dtype} [${shape.join(', ')}]`,
    )
  }
  return { name, dtype, shape, bytes: bytesOf(data) }
}

/** Views that say nothing of their elements, and so fit every dtype. */
const rawBytes = ['Uint8Array', 'Uint8ClampedArray', 'DataView']

const encodeHeader = (
  tensors: readonly PlacedTensor[],
  metadata?: Readonly<Record<string, string>>,
): Uint8Array => {
  // Joined by hand: an object would take `__proto__` for its prototype and put names such as "7" first.
  const members = metadata === undefined ? [] : [member(metadataKey, encodeMetadata(metadata))]
  let begin = 0
  for (const { name, dtype, shape, bytes } of tensors) {
    const end = begin + bytes.length
    members.push(member(name, JSON.stringify({ dtype, shape, data_offsets: [begin, end] })))
    begin = end
  }
  const text = new TextEncoder().encode(`{${members.join(',')}}`)
  const length = Math.ceil(text.length / 8) * 8
  expectAtMost(longestHeader, length, 'bytes of header')
  const header = new Uint8Array(length).fill(0x20)
  header.set(text)
  return header
}

const encodeMetadata = (metadata: Readonly<Record<string, string>>): string => {
  const entries = Object.entries(metadata).sort(([a], [b]) => compareText(a, b))
  expectAtMost(mostMembers, entries.length, 'metadata')
  for (const [key, value] of entries) {
    const where = `metadata ${quote(key)}`
    if (typeof value !== 'string') {
      throw new SafeTensorsError('invalid-metadata', `${where} is of type ${typeof value}: expected a string`)
    }
    expectWellFormed(key, 'invalid-metadata', where)
    // Asked before the value is escaped, which can make it six times as long.
    expectAtMost(longestHeader, value.length, `characters in ${where}`)
    expectWellFormed(value, 'invalid-metadata', where)
  }
  return `{${entries.map(([key, value]) => member(key, JSON.stringify(value))).join(',')}}`
}

const member = (key: string, json: string): string => `${JSON.stringify(key)}:${json}`

/** What no reader would take must not be written. */
const expectAtMost = (most: number, count: number, what: string): void => {
  if (count > most) {
    throw new SafeTensorsError('header-too-large', `${count} ${what}: expected at most ${most}`)
  }
}

const expectWellFormed = (text: string, code: 'invalid-tensor' | 'invalid-metadata', where: string): void => {
  if (/\p{Surrogate}/u.test(text)) {
    throw new SafeTensorsError(code, `${where} has a lone surrogate: expected text that UTF-8 can hold`)
  }
}

/** By code points, as Rust compares strings; `<` compares UTF-16, where U+10000 comes before U+E000. */
const compareText = (a: string, b: string): number => {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const difference = rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** A code unit's place where surrogates, which stand for U+10000 and up, come after all others. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
