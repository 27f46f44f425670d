import { SentencePieceError } from '@pocket/sentencepiece'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { float32, protobufFields, tagOf, utf8, WireType } from '../../src/protobuf-reader.ts'
import { bytesField, floatField, varint, varintField } from '../model-writer.ts'

const read = (bytes: number[]) => [...protobufFields(Uint8Array.from(bytes))]

describe('protobufFields', () => {
  it('reads the four wire types in file order', () => {
    const fields = read([
      ...varintField(1, 300),
      ...[2 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8],
      ...bytesField(3, [9, 10]),
      ...floatField(4, -1.5),
    ])
    expect(fields.map(({ tag }) => tag)).toEqual([
      tagOf(1, WireType.varint),
      tagOf(2, WireType.fixed64),
      tagOf(3, WireType.bytes),
      tagOf(4, WireType.fixed32),
    ])
    expect(fields[0]?.varint).toBe(300)
    expect([...fields[1]!.bytes]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect([...fields[2]!.bytes]).toEqual([9, 10])
    expect(float32(fields[3]!.bytes)).toBe(-1.5)
  })

  it('reads back every number and field number that was written', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: 2 ** 29 - 1 }), (value, field) => {
        expect(read(varintField(field, value))).toMatchObject([{ tag: field * 8, varint: value }])
      }),
    )
  })

  it('gives views, not copies', () => {
    const message = Uint8Array.from(bytesField(1, [1, 2, 3]))
    expect([...protobufFields(message)][0]?.bytes.buffer).toBe(message.buffer)
  })

  it.each([
    ['a length past the end', [0x0a, 5, 1]],
    ['a length of 2^63', [0x0a, ...Array(9).fill(0xff), 0x01]],
    ['a number that never ends', [0x08, ...Array(11).fill(0x80)]],
    ['a number cut off', [0x08, 0x80]],
    ['a tag cut off', [0x80]],
    ['a fixed32 cut off', [0x0d, 1, 2, 3]],
    ['a fixed64 cut off', [0x09, 1, 2, 3, 4, 5, 6, 7]],
    ['field number 0', [0x02, 0]],
    ['a tag of more than 32 bits', [...varint(2 ** 32 + 8), 0]],
    ['the start of a group', [0x0b]],
    ['the end of a group', [0x0c]],
    ['wire type 6', [0x0e]],
    ['wire type 7', [0x0f]],
  ])('refuses %s', (_, bytes) => {
    expect(() => read(bytes)).toThrow(expect.objectContaining({ code: 'malformed-file' }))
  })

  it('ends, and throws nothing else, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          const held = [...protobufFields(bytes)].reduce((sum, field) => sum + field.bytes.length + 1, 0)
          expect(held).toBeLessThanOrEqual(bytes.length)
        } catch (error) {
          expect(error).toBeInstanceOf(SentencePieceError)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('utf8', () => {
  it('keeps a byte order mark', () => {
    expect(utf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41), 'it')).toBe('\ufeffA')
  })

  it('names what is not UTF-8', () => {
    expect(() => utf8(Uint8Array.of(0xc0, 0x80), 'The name')).toThrow(/^The name is not UTF-8/)
  })
})
