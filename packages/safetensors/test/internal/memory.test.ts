import { openSource } from '@pocket/safetensors'
import { expect, test } from 'vitest'
import { allocate } from '../../src/memory.ts'
import { failureCode, makeFile } from '../make-file.ts'

test('a tensor larger than memory is a typed error', async () => {
  const size = 2 ** 46
  const start = makeFile(`{"x":{"dtype":"BF16","shape":[${size / 2}],"data_offsets":[0,${size}]}}`)
  const reader = await openSource({
    size: start.length + size,
    read: async (offset, length) =>
      length > 1000 ? new Uint8Array(allocate(length)) : start.slice(offset, offset + length),
  })
  expect(reader.info('x').byteLength).toBe(size)
  expect(await failureCode(() => reader.f32('x'))).toBe('out-of-memory')
})
