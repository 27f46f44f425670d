import { type Dtype, SafeTensors, type TensorData, writeSafeTensors } from '@pocket/safetensors'
import { writeTensorFile } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failureCode } from './make-file.ts'

const bits: Record<Dtype, number> = {
  BOOL: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  F8_E4M3FNUZ: 8,
  F8_E5M2FNUZ: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  C64: 64,
  F64: 64,
  I64: 64,
  U64: 64,
}

const name = fc
  .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', 'toString', '', '0'))
  .filter((text) => text !== '__metadata__')

const tensor: fc.Arbitrary<TensorData> = fc
  .record({
    dtype: fc.constantFrom(...(Object.keys(bits) as Dtype[])),
    shape: fc.array(fc.nat({ max: 4 }), { maxLength: 4 }),
  })
  .map(({ dtype, shape }) => ({ dtype, shape: bits[dtype] < 8 ? [...shape, 4] : shape }))
  .chain(({ dtype, shape }) => {
    const length = (shape.reduce((product, size) => product * size, 1) * bits[dtype]) / 8
    return fc.uint8Array({ minLength: length, maxLength: length }).map((data) => ({ dtype, shape, data }))
  })

const tensors = fc.uniqueArray(fc.tuple(name, tensor), { selector: ([key]) => key, maxLength: 8 })
const metadata = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))

describe('writeSafeTensors', () => {
  test('what is written is what is read', () => {
    fc.assert(
      fc.property(tensors, metadata, (entries, meta) => {
        const read = SafeTensors.fromBytes(writeSafeTensors(Object.fromEntries(entries), meta))
        expect(read.names().sort()).toEqual(entries.map(([key]) => key).sort())
        expect(Object.entries(read.metadata).sort()).toEqual(Object.entries(meta).sort())
        for (const [key, { dtype, shape, data }] of entries) {
          expect(read.info(key)).toEqual({ dtype, shape, byteLength: data.byteLength })
          expect(read.bytes(key)).toEqual(data)
        }
      }),
    )
  })

  test('the order of the input does not matter, and every tensor is aligned to its dtype', () => {
    fc.assert(
      fc.property(tensors, metadata, (entries, meta) => {
        const file = writeSafeTensors(Object.fromEntries(entries), meta)
        const backwards = Object.fromEntries(Object.entries(meta).reverse())
        expect(writeSafeTensors(Object.fromEntries([...entries].reverse()), backwards)).toEqual(file)
        const read = SafeTensors.fromBytes(file)
        for (const key of read.names()) {
          const alignment = Math.max(1, bits[read.info(key).dtype] / 8)
          if (Number.isInteger(alignment)) expect(read.bytes(key).byteOffset % alignment).toBe(0)
        }
      }),
    )
  })

  test('reads what an independent writer wrote, in whatever order', () => {
    fc.assert(
      fc.property(tensors, (entries) => {
        const inOrder = entries.filter(([key]) => key !== '__proto__')
        const file = writeTensorFile(
          inOrder.map(([key, { dtype, shape, data }]) => ({
            name: key,
            dtype,
            shape,
            bytes: data as Uint8Array,
          })),
        )
        const read = SafeTensors.fromBytes(file)
        for (const [key, { data }] of inOrder) expect(read.bytes(key)).toEqual(data)
      }),
    )
  })

  test('the bytes of a small file', () => {
    const file = writeSafeTensors(
      {
        bias: { dtype: 'F32', shape: [1], data: Float32Array.of(1) },
        step: { dtype: 'I64', shape: [], data: BigInt64Array.of(258n) },
      },
      { z: '1', a: 'é' },
    )
    const header =
      '{"__metadata__":{"a":"é","z":"1"},"step":{"dtype":"I64","shape":[],"data_offsets":[0,8]},' +
      '"bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}'
    const text = new TextEncoder().encode(header)
    const padded = Math.ceil(text.length / 8) * 8
    expect(padded).toBeGreaterThan(text.length)
    expect([...file]).toEqual([
      ...[padded, 0, 0, 0, 0, 0, 0, 0],
      ...text,
      ...new Array(padded - text.length).fill(0x20),
      ...[2, 1, 0, 0, 0, 0, 0, 0],
      ...[0, 0, 0x80, 0x3f],
    ])
  })

  test('part of a larger buffer, a DataView and shared memory are written as they are', () => {
    const data = new Uint8Array(Uint8Array.of(1, 2, 3, 4, 5).buffer, 1, 2)
    const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(9)
    const read = SafeTensors.fromBytes(
      writeSafeTensors({
        view: { dtype: 'I16', shape: [1], data: new DataView(data.buffer, 1, 2) },
        shared: { dtype: 'U8', shape: [2], data: shared },
        part: { dtype: 'BOOL', shape: [2], data },
      }),
    )
    expect([...read.bytes('view')]).toEqual([2, 3])
    expect([...read.bytes('shared')]).toEqual([9, 9])
    expect([...read.bytes('part')]).toEqual([2, 3])
  })
})

describe('refusals', () => {
  const write = (data: Partial<Record<keyof TensorData, unknown>>, key = 'x') =>
    failureCode(() =>
      writeSafeTensors({
        [key]: { dtype: 'F32', shape: [1], data: Float32Array.of(1), ...data } as TensorData,
      }),
    )

  test('lengths and shapes', async () => {
    expect(await write({ shape: [2] })).toBe('size-mismatch')
    expect(await write({ shape: [], data: new Float32Array(0) })).toBe('size-mismatch')
    expect(await write({ shape: [-1] })).toBe('invalid-shape')
    expect(await write({ shape: [0.5] })).toBe('invalid-shape')
    expect(await write({ shape: [Number.NaN] })).toBe('invalid-shape')
    expect(await write({ shape: [2 ** 40, 2 ** 40] })).toBe('invalid-shape')
    expect(await write({ shape: undefined })).toBe('invalid-shape')
    expect(await write({ dtype: 'F4', shape: [3], data: new Uint8Array(2) })).toBe('invalid-shape')
  })

  test('dtypes, and arrays of another kind', async () => {
    expect(await write({ dtype: 'F128' })).toBe('unknown-dtype')
    expect(await write({ dtype: 'toString' })).toBe('unknown-dtype')
    expect(await write({ dtype: undefined })).toBe('unknown-dtype')
    expect(await write({ data: [1] })).toBe('invalid-tensor')
    expect(await write({ data: Int32Array.of(1) })).toBe('invalid-tensor')
    expect(await write({ dtype: 'BF16', data: Int16Array.of(1) })).toBe('invalid-tensor')
    expect(await write({ dtype: 'I64', data: BigUint64Array.of(1n) })).toBe('invalid-tensor')
  })

  test('names and metadata', async () => {
    expect(await write({}, '__metadata__')).toBe('invalid-tensor')
    expect(await write({}, '\ud800')).toBe('invalid-tensor')
    const meta = (value: unknown) => failureCode(() => writeSafeTensors({}, value as Record<string, string>))
    expect(await meta({ a: 1 })).toBe('invalid-metadata')
    expect(await meta({ a: '\udc00' })).toBe('invalid-metadata')
    expect(await meta({ '\udc00': 'a' })).toBe('invalid-metadata')
  })

  test('headers that no reader would take', async () => {
    const long = { a: 'x'.repeat(100_000_001) }
    expect(await failureCode(() => writeSafeTensors({}, long))).toBe('header-too-large')
    const escaped = { a: '\u0001'.repeat(17_000_000) }
    expect(await failureCode(() => writeSafeTensors({}, escaped))).toBe('header-too-large')
    const many = Object.fromEntries(Array.from({ length: 2 ** 18 + 1 }, (_, i) => [i, '']))
    expect(await failureCode(() => writeSafeTensors({}, many))).toBe('header-too-large')
    expect(await write({ shape: new Array(65).fill(1) })).toBe('invalid-shape')
  })
})
