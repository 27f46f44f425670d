import { type Dtype, rowMajor, SafeTensors, type TensorData, writeSafeTensors } from '@pocket/safetensors'
import ndarray from 'ndarray'
import { describe, expect, test } from 'vitest'
import { failure, failureCode, makeFile } from './make-file.ts'

const open = (tensors: Record<string, TensorData>, metadata?: Record<string, string>) =>
  SafeTensors.fromBytes(writeSafeTensors(tensors, metadata))

const matrix: TensorData = { dtype: 'F32', shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) }

/** The same file at another place in memory. */
const shiftedBy = (offset: number, file: Uint8Array): Uint8Array => {
  const shifted = new Uint8Array(offset + file.length)
  shifted.set(file, offset)
  return shifted.subarray(offset)
}

describe('what the header says', () => {
  test('names in the order of the data, info, metadata', () => {
    const tensors = open({ a: { dtype: 'U8', shape: [1], data: Uint8Array.of(7) }, b: matrix }, { k: 'v' })
    expect(tensors.names()).toEqual(['b', 'a'])
    expect(tensors.has('a')).toBe(true)
    expect(tensors.has('c')).toBe(false)
    expect(tensors.info('b')).toEqual({ dtype: 'F32', shape: [2, 3], byteLength: 24 })
    expect({ ...tensors.metadata }).toEqual({ k: 'v' })
    expect(Object.isFrozen(tensors.metadata)).toBe(true)
    expect(Object.keys(open({}).metadata)).toEqual([])
  })

  test('what a caller does to an answer stays with the caller', () => {
    const tensors = open({ b: matrix })
    tensors.info('b').shape.push(4)
    tensors.f32('b').shape.push(4)
    tensors.names().push('c')
    expect(tensors.info('b').shape).toEqual([2, 3])
    expect(tensors.names()).toEqual(['b'])
  })

  test('prototype names are names, and nothing else', () => {
    const header =
      '{"__metadata__":{"__proto__":"x"},"__proto__":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},' +
      '"constructor":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}'
    const tensors = SafeTensors.fromBytes(makeFile(header, Uint8Array.of(3, 4)))
    expect(tensors.names()).toEqual(['__proto__', 'constructor'])
    expect([...tensors.bytes('__proto__'), ...tensors.bytes('constructor')]).toEqual([3, 4])
    expect(Object.entries(tensors.metadata)).toEqual([['__proto__', 'x']])
    expect(tensors.has('hasOwnProperty')).toBe(false)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('a name that is not there: the message says which are', async () => {
    const error = await failure(() => open({ b: matrix }).f32('a'))
    expect(error.code).toBe('unknown-tensor')
    expect(error.message).toBe('there is no tensor "a": the file holds 1, such as "b": see names()')
    expect((await failure(() => open({}).info('a'))).message).toContain('none at all')
  })
})

describe('values', () => {
  test('bytes and aligned F32 and I64 are views of the file', () => {
    const offset: TensorData = { dtype: 'I64', shape: [1], data: BigInt64Array.of(-5n) }
    const file = writeSafeTensors({ matrix, offset })
    const tensors = SafeTensors.fromBytes(file)
    expect(tensors.bytes('matrix').buffer).toBe(file.buffer)
    expect(tensors.f32('matrix').data.buffer).toBe(file.buffer)
    expect(tensors.i64('offset').buffer).toBe(file.buffer)
    tensors.f32('matrix').data[0] = 9
    expect(tensors.f32('matrix').data[0]).toBe(9)
  })

  test.each([1, 2, 3, 4, 5, 7])('a file %i bytes into its buffer gives the same values', (shift) => {
    const values = [0.5, -2, Number.POSITIVE_INFINITY]
    const file = writeSafeTensors({
      f64: { dtype: 'F64', shape: [3], data: Float64Array.from(values) },
      f32: { dtype: 'F32', shape: [3], data: Float32Array.from(values) },
      bf16: { dtype: 'BF16', shape: [3], data: Uint16Array.of(0x3f00, 0xc000, 0x7f80) },
      f16: { dtype: 'F16', shape: [3], data: Uint16Array.of(0x3800, 0xc000, 0x7c00) },
      i64: { dtype: 'I64', shape: [2], data: BigInt64Array.of(2n ** 62n, -1n) },
    })
    const tensors = SafeTensors.fromBytes(shiftedBy(shift, file))
    for (const name of ['f64', 'f32', 'bf16', 'f16']) expect([...tensors.f32(name).data]).toEqual(values)
    expect([...tensors.i64('i64')]).toEqual([2n ** 62n, -1n])
  })

  test('a file in the middle of a Node Buffer, and in shared memory', () => {
    const file = writeSafeTensors({ matrix })
    const buffer = Buffer.concat([Buffer.alloc(3), file, Buffer.alloc(5)]).subarray(3, 3 + file.length)
    const fromBuffer = SafeTensors.fromBytes(buffer)
    expect(fromBuffer.f32('matrix').data).toEqual(matrix.data)
    // A Buffer's slice does not copy: what is handed out must be a plain Uint8Array.
    expect(fromBuffer.bytes('matrix').slice().buffer).not.toBe(buffer.buffer)

    const shared = new Uint8Array(new SharedArrayBuffer(file.length))
    shared.set(file)
    expect([...SafeTensors.fromBytes(shared).f32('matrix').data]).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('F64 is rounded to the nearest float32', () => {
    const values = [0.1, 1e300, 2 ** -149, 2 ** -151, 1 + 2 ** -24, 1 + 3 * 2 ** -24]
    const tensors = open({ x: { dtype: 'F64', shape: [6], data: Float64Array.from(values) } })
    expect([...tensors.f32('x').data]).toEqual(values.map(Math.fround))
  })

  test('conversions that would lose the meaning are refused by name', async () => {
    const refused: Dtype[] = [
      'BOOL',
      'U8',
      'I8',
      'F8_E5M2',
      'F8_E4M3',
      'I16',
      'U16',
      'I32',
      'U32',
      'I64',
      'U64',
    ]
    for (const dtype of refused) {
      const tensors = open({ x: { dtype, shape: [0], data: new Uint8Array(0) } })
      const error = await failure(() => tensors.f32('x'))
      expect(error.code).toBe('unsupported-dtype')
      expect(error.message).toBe(
        `tensor "x" is ${dtype}: f32() reads F32, BF16, F16 and F64; bytes() reads everything`,
      )
      expect(tensors.bytes('x')).toHaveLength(0)
    }
    expect(await failureCode(() => open({ matrix }).i64('matrix'))).toBe('unsupported-dtype')
  })
})

describe('NdArray', () => {
  test('is what the ndarray package takes', () => {
    const { data, shape, stride, offset } = open({ matrix }).f32('matrix')
    const array = ndarray(data, shape, stride, offset)
    expect(array.get(1, 0)).toBe(4)
    expect(array.transpose(1, 0).get(2, 1)).toBe(6)
    expect(ndarray(data, shape).stride).toEqual(stride)
  })

  test('strides of scalars and of empty arrays', () => {
    expect(rowMajor([1], [])).toEqual({ data: [1], shape: [], stride: [], offset: 0 })
    expect(rowMajor([], [2, 0, 3]).stride).toEqual([0, 3, 1])
  })
})

describe('what is no safetensors file', () => {
  const text = (content: string) => new TextEncoder().encode(content)

  test.each([
    ['an empty file', new Uint8Array(0), 'the file is empty'],
    ['an HTML page', text('\n <!DOCTYPE html><html>'), 'an HTML page'],
    ['an HTML page', text('<html><head>'), 'an HTML page'],
    ['XML', text('<?xml version="1.0"?><Error/>'), 'an XML document'],
    ['an LFS pointer', text('version https://git-lfs.github.com/spec/v1\noid sha256:'), 'git lfs pull'],
    ['an error message', text('Entry not found'), 'a text that begins with "Entry not found"'],
    ['a short text', text('no'), 'a text that begins with "no"'],
    ['an index', text('{\n  "metadata": {}}'), 'model.safetensors.index.json'],
    ['a zip archive', text('PK\u0003\u0004\u0000\u0000archive/data.pkl'), 'a zip archive'],
    ['a pickle', Uint8Array.of(0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20), 'a Python pickle'],
    ['GGUF', text('GGUF\u0003\u0000\u0000\u0000'), 'a GGUF file'],
    ['WAV', text('RIFF\u0024\u0000\u0000\u0000WAVEfmt '), 'a RIFF file'],
    ['gzip', Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3), 'gzip data'],
    ['a NumPy array', Uint8Array.of(0x93, ...text('NUMPY\u0001\u0000v\u0000')), 'a NumPy array'],
  ])('%s', async (_, bytes, message) => {
    expect((await failure(() => SafeTensors.fromBytes(bytes))).message).toContain(message)
  })

  test('a truncated file whose header length looks like a pickle is called truncated', async () => {
    const start = new Uint8Array(100)
    start.set([0x80, 2, 0x10])
    expect(await failureCode(() => SafeTensors.fromBytes(start))).toBe('truncated')
  })

  test('a header past the limit of the format is refused before it is looked at', async () => {
    const start = new Uint8Array(16)
    new DataView(start.buffer).setBigUint64(0, 100_000_001n, true)
    expect(await failureCode(() => SafeTensors.fromBytes(start))).toBe('header-too-large')
    new DataView(start.buffer).setBigUint64(0, 100_000_000n, true)
    expect(await failureCode(() => SafeTensors.fromBytes(start))).toBe('truncated')
  })

  test('bad UTF-8 and a byte order mark', async () => {
    const name = Uint8Array.of(...text('{"'), 0xc3, 0x28, ...text('":0}'))
    expect((await failure(() => SafeTensors.fromBytes(makeFile(name)))).message).toBe(
      'the header is not UTF-8 text',
    )
    expect(await failureCode(() => SafeTensors.fromBytes(makeFile('\ufeff{}')))).toBe('invalid-header')
  })

  test('more dimensions than any library knows', async () => {
    const entry = (rank: number) =>
      `{"a":{"dtype":"U8","shape":[${Array(rank).fill(1)}],"data_offsets":[0,1]}}`
    expect(SafeTensors.fromBytes(makeFile(entry(64), 1)).info('a').shape).toHaveLength(64)
    expect(await failureCode(() => SafeTensors.fromBytes(makeFile(entry(65), 1)))).toBe('invalid-shape')
  })

  test('sizes of zero do not hide an overflow', async () => {
    const header = '{"a":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}}'
    expect(await failureCode(() => SafeTensors.fromBytes(makeFile(header)))).toBe('invalid-shape')
  })

  test('what is not bytes', async () => {
    for (const value of ['text', null, new ArrayBuffer(8), [1, 2]]) {
      const open = () => SafeTensors.fromBytes(value as unknown as Uint8Array)
      expect(await failureCode(open)).toBe('invalid-argument')
    }
  })

  test('long names are cut in messages', async () => {
    const name = 'x'.repeat(1_000_000)
    const header = `{"${name}":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}}`
    const { message } = await failure(() => SafeTensors.fromBytes(makeFile(header, 1)))
    expect(message.length).toBeLessThan(300)
  })
})
