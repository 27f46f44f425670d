import { asDtype, byteLengthOf, type Dtype } from './dtype.ts'
import { quote, SafeTensorsError, type SafeTensorsErrorCode } from './error.ts'
import { describeForeignFile } from './foreign-file.ts'
import { type JsonKind, JsonScanner } from './json-scanner.ts'
import { longestHeader, mostDimensions } from './limits.ts'
import { copyOf } from './memory.ts'
import { type TensorEntry, TensorIndex } from './tensor-index.ts'

/** The header's length, as a 64-bit number, comes before the header. */
export const lengthBytes = 8

/** The key that is no tensor. */
export const metadataKey = '__metadata__'

/**
 * Reads the length of the header from a file's first bytes (as many as there are, up to `recognisable`)
 * and checks it against the file's `size`. What is no safetensors file is told apart here.
 */
export const readHeaderLength = (start: Uint8Array, size: number): number => {
  if (size === 0) throw new SafeTensorsError('truncated', 'the file is empty: expected a safetensors file')
  const foreign = (code: SafeTensorsErrorCode, problem: string): SafeTensorsError => {
    const description = describeForeignFile(start)
    return description === undefined
      ? new SafeTensorsError(code, problem)
      : new SafeTensorsError('not-safetensors', `no safetensors file: it seems to be ${description}`)
  }
  if (size < lengthBytes) {
    throw foreign('truncated', `the file ends after ${size} bytes: expected the 8 bytes of a header's length`)
  }
  const length = new DataView(start.buffer, start.byteOffset).getBigUint64(0, true)
  if (length > longestHeader) {
    throw foreign(
      'header-too-large',
      `the header would be ${length} bytes long: expected at most ${longestHeader}; is it a safetensors file?`,
    )
  }
  if (length > size - lengthBytes) {
    throw foreign(
      'truncated',
      `the header is ${length} bytes long, but the file ends after ${size} bytes: is the download complete?`,
    )
  }
  const first = length === 0n ? '' : String.fromCharCode(start[lengthBytes] ?? 0)
  if (first !== '{') {
    throw foreign('invalid-header', `the header begins with ${quote(first)}: expected the { of a JSON object`)
  }
  return Number(length)
}

/** Parses a header and checks it against the `dataLength` bytes that follow it. */
export const parseHeader = (header: Uint8Array, dataLength: number): TensorIndex => {
  const json = new JsonScanner(decodeText(header))
  let metadata: Readonly<Record<string, string>> = Object.freeze(Object.create(null))
  const entries = new Map<string, TensorEntry>()
  json.object('the header', (key) => {
    if (key === metadataKey) metadata = readMetadata(json)
    else entries.set(key, readEntry(json, `tensor ${quote(key)}`))
  })
  json.end()
  return new TensorIndex(inOrder(entries, dataLength), metadata, lengthBytes + header.length)
}

const decodeText = (bytes: Uint8Array): string => {
  try {
    // A copy, since browsers do not decode shared memory. A byte order mark is kept, and so refused later.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(copyOf(bytes))
  } catch (cause) {
    if (cause instanceof SafeTensorsError) throw cause
    throw new SafeTensorsError('invalid-header', 'the header is not UTF-8 text', { cause })
  }
}

const readMetadata = (json: JsonScanner): Readonly<Record<string, string>> => {
  const metadata: Record<string, string> = Object.create(null)
  expectKind(json, 'object', 'invalid-metadata', metadataKey)
  json.object(metadataKey, (key) => {
    expectKind(json, 'string', 'invalid-metadata', `${metadataKey}: ${quote(key)}`)
    metadata[key] = json.string()
  })
  return Object.freeze(metadata)
}

const readEntry = (json: JsonScanner, where: string): TensorEntry => {
  const found: { dtype?: Dtype; shape?: number[]; offsets?: number[] } = {}
  expectKind(json, 'object', 'invalid-tensor', where)
  json.object(where, (key) => {
    if (key === 'dtype') {
      expectKind(json, 'string', 'unknown-dtype', `${where}: dtype`)
      found.dtype = asDtype(json.string(), where)
    } else if (key === 'shape') {
      found.shape = readNumbers(json, mostDimensions, 'invalid-shape', `${where}: shape`)
    } else if (key === 'data_offsets') {
      found.offsets = readNumbers(json, 2, 'invalid-offsets', `${where}: data_offsets`)
    } else {
      // The format's JSON schema closes the object; nothing may hide in it.
      throw new SafeTensorsError(
        'invalid-tensor',
        `${where} has a member ${quote(key)} that the format lacks`,
      )
    }
  })
  const { dtype, shape, offsets } = found
  if (dtype === undefined || shape === undefined || offsets === undefined) {
    throw new SafeTensorsError('invalid-tensor', `${where}: expected dtype, shape and data_offsets`)
  }
  return checkedEntry(dtype, shape, offsets, where)
}

const checkedEntry = (dtype: Dtype, shape: number[], offsets: number[], where: string): TensorEntry => {
  const [begin, end] = offsets
  if (begin === undefined || end === undefined || end < begin) {
    throw new SafeTensorsError(
      'invalid-offsets',
      `${where} has the data_offsets [${offsets.join(', ')}]: expected a begin and an end not before it`,
    )
  }
  const expected = byteLengthOf(dtype, shape, where)
  if (end - begin !== expected) {
    throw new SafeTensorsError(
      'size-mismatch',
      `${where} has ${end - begin} bytes: expected ${expected}, since it is ${dtype} [${shape.join(', ')}]`,
    )
  }
  return { dtype, shape, begin, end }
}

const readNumbers = (
  json: JsonScanner,
  most: number,
  code: SafeTensorsErrorCode,
  where: string,
): number[] => {
  const numbers: number[] = []
  expectKind(json, 'array', code, where)
  json.array(() => {
    if (numbers.length === most) {
      throw new SafeTensorsError(code, `${where} has more than ${most} numbers`)
    }
    expectKind(json, 'number', code, where)
    numbers.push(wholeNumber(json.number(), code, where))
  })
  return numbers
}

/** Digits only: the reference library takes neither a sign (-0), a fraction (1.0) nor an exponent (1e3). */
const wholeNumber = (text: string, code: SafeTensorsErrorCode, where: string): number => {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value)) return value
  throw new SafeTensorsError(code, `${where} holds ${text}: expected a whole number from 0 to 2^53 - 1`)
}

const expectKind = (json: JsonScanner, kind: JsonKind, code: SafeTensorsErrorCode, where: string): void => {
  const found = json.kind()
  if (found !== kind) {
    throw new SafeTensorsError(code, `${where}: expected JSON of the kind ${kind}, found ${found}`)
  }
}

/** Sorts by place, and checks that the tensors cover the data exactly: no overlap, no hole, no remainder. */
const inOrder = (entries: Map<string, TensorEntry>, dataLength: number): Map<string, TensorEntry> => {
  const sorted = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)
  let covered = 0
  for (const [name, { begin, end }] of sorted) {
    if (begin !== covered) {
      const fault = begin < covered ? 'overlaps another tensor' : 'leaves a hole before it'
      throw new SafeTensorsError(
        'invalid-offsets',
        `tensor ${quote(name)} begins at byte ${begin} of the data and ${fault}: expected ${covered}`,
      )
    }
    covered = end
  }
  if (covered > dataLength) {
    throw new SafeTensorsError(
      'truncated',
      `the tensors take ${covered} bytes, but only ${dataLength} follow the header: is the download complete?`,
    )
  }
  if (covered < dataLength) {
    throw new SafeTensorsError(
      'trailing-bytes',
      `${dataLength - covered} bytes follow the last tensor: expected the file to end with it`,
    )
  }
  return new Map(sorted)
}
