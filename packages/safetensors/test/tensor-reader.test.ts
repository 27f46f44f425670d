import {
  type ByteSource,
  openBlob,
  openSource,
  SafeTensors,
  type TensorReader,
  writeSafeTensors,
} from '@pocket/safetensors'
import { readFixture, readGoldens } from '@tooling/fixtures'
import { describe, expect, test } from 'vitest'
import { failure, failureCode, makeFile, sameBytes } from './make-file.ts'

const model = 'tiny/tiny-2026-04/model.safetensors'

/** Keeps count of what is read. */
class CountingSource implements ByteSource {
  readonly size: number
  readonly reads: { offset: number; length: number }[] = []
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.size = bytes.length
  }

  get bytesRead(): number {
    return this.reads.reduce((sum, { length }) => sum + length, 0)
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.reads.push({ offset, length })
    // Later reads answer first, so that a reader that mixes its reads up is caught.
    for (let turns = 20 - (this.reads.length % 20); turns > 0; turns--) await Promise.resolve()
    return this.#bytes.subarray(offset, offset + length)
  }
}

const expectSameAsInMemory = async (reader: TensorReader, file: Uint8Array): Promise<void> => {
  const tensors = SafeTensors.fromBytes(file)
  expect(reader.names()).toEqual(tensors.names())
  expect(reader.metadata).toEqual(tensors.metadata)
  for (const name of tensors.names()) {
    expect(reader.has(name)).toBe(true)
    expect(reader.info(name)).toEqual(tensors.info(name))
    expect(sameBytes(await reader.bytes(name), tensors.bytes(name))).toBe(true)
    const { data, ...rest } = await reader.f32(name)
    const { data: expected, ...expectedRest } = tensors.f32(name)
    expect(rest).toEqual(expectedRest)
    expect(sameBytes(data, expected)).toBe(true)
  }
}

describe('openSource', () => {
  test('answers as SafeTensors does', async () => {
    const file = readFixture(model)
    await expectSameAsInMemory(await openSource(new CountingSource(file)), file)
  })

  test('reads the header and the tensors asked for, and nothing else', async () => {
    const file = readFixture(model)
    const source = new CountingSource(file)
    const reader = await openSource(source)
    const headerLength = Number(new DataView(file.buffer).getBigUint64(0, true))
    expect(source.bytesRead).toBe(64 + headerLength)
    const name = reader.names()[7] ?? ''
    const { byteLength } = reader.info(name)
    const { byteOffset } = SafeTensors.fromBytes(file).bytes(name)
    await reader.f32(name)
    expect(source.reads.at(-1)).toEqual({ offset: byteOffset, length: byteLength })
    expect(source.reads).toHaveLength(3)
    expect(source.bytesRead).toBeLessThan(file.length / 4)
  })

  test('reads overlap and do not mix', async () => {
    const name = 'tiny/tiny-2026-04/golden.safetensors'
    const source = new CountingSource(readFixture(name))
    const reader = await openSource(source)
    const expected = [...readGoldens(name)]
    const arrays = await Promise.all(expected.map(([tensor]) => reader.f32(tensor)))
    for (const [i, [, { shape, data }]] of expected.entries()) {
      expect(arrays[i]?.shape).toEqual(shape)
      expect(sameBytes(arrays[i]?.data ?? new Uint8Array(0), data)).toBe(true)
    }
  })

  test('refuses before it reads', async () => {
    const source = new CountingSource(
      writeSafeTensors({ x: { dtype: 'U8', shape: [1], data: Uint8Array.of(1) } }),
    )
    const reader = await openSource(source)
    const reads = source.reads.length
    expect(await failureCode(() => reader.f32('x'))).toBe('unsupported-dtype')
    expect(await failureCode(() => reader.i64('x'))).toBe('unsupported-dtype')
    expect(await failureCode(() => reader.bytes('y'))).toBe('unknown-tensor')
    expect(await failureCode(() => reader.info('y'))).toBe('unknown-tensor')
    expect(source.reads).toHaveLength(reads)
  })

  test('empty tensors and 64-bit integers', async () => {
    const source = new CountingSource(
      writeSafeTensors({
        empty: { dtype: 'F32', shape: [0, 2], data: new Uint8Array(0) },
        offset: { dtype: 'I64', shape: [2], data: BigInt64Array.of(-1n, 2n ** 40n) },
      }),
    )
    const reader = await openSource(source)
    expect((await reader.f32('empty')).shape).toEqual([0, 2])
    expect(source.reads).toHaveLength(2)
    expect(await reader.i64('offset')).toEqual(BigInt64Array.of(-1n, 2n ** 40n))
  })

  test('a source that lies about its length or its size', async () => {
    const file = writeSafeTensors({ x: { dtype: 'U8', shape: [100], data: new Uint8Array(100) } })
    const short: ByteSource = { size: file.length, read: async (offset) => file.subarray(offset, offset + 5) }
    expect((await failure(() => openSource(short))).message).toBe('the source gave 5 bytes at 0: expected 64')
    for (const size of [-1, 1.5, Number.NaN]) {
      expect(await failureCode(() => openSource({ ...short, size }))).toBe('invalid-argument')
    }
  })

  test("the source's own errors arrive as they are, and the reader stays usable", async () => {
    const file = writeSafeTensors({ x: { dtype: 'U8', shape: [1], data: Uint8Array.of(1) } })
    let down = false
    const reader = await openSource({
      size: file.length,
      read: async (offset, length) => {
        if (down) throw new DOMException('stopped', 'AbortError')
        return file.subarray(offset, offset + length)
      },
    })
    down = true
    await expect(reader.bytes('x')).rejects.toHaveProperty('name', 'AbortError')
    down = false
    expect(await reader.bytes('x')).toEqual(Uint8Array.of(1))
  })

  test('a huge header in a huge file is not read', async () => {
    const start = makeFile('{}')
    new DataView(start.buffer).setBigUint64(0, 2n ** 40n, true)
    const reads: number[] = []
    const source: ByteSource = {
      size: 2 ** 50,
      read: async (_, length) => {
        reads.push(length)
        const bytes = new Uint8Array(length)
        bytes.set(start.subarray(0, length))
        return bytes
      },
    }
    expect(await failureCode(() => openSource(source))).toBe('header-too-large')
    expect(reads).toEqual([64])
  })
})

describe('openBlob', () => {
  test('answers as SafeTensors does', async () => {
    const file = readFixture(model)
    await expectSameAsInMemory(await openBlob(new Blob([file.slice()])), file)
  })

  test('refuses what is no safetensors file', async () => {
    expect((await failure(() => openBlob(new Blob(['<html>nothing</html>'])))).message).toContain(
      'an HTML page',
    )
    expect(await failureCode(() => openBlob(new Blob([])))).toBe('truncated')
  })

  test('a Blob whose file is gone', async () => {
    const file = writeSafeTensors({ x: { dtype: 'U8', shape: [1], data: Uint8Array.of(1) } })
    const blob = new Blob([file])
    const reader = await openBlob(blob)
    blob.slice = () => {
      throw new DOMException('gone', 'NotReadableError')
    }
    const error = await failure(() => reader.bytes('x'))
    expect(error.code).toBe('read-failed')
    expect(error.cause).toHaveProperty('name', 'NotReadableError')
  })
})
