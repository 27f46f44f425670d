import { openBlob, SafeTensors, SafeTensorsError } from '@pocket/safetensors'
import { readFixture } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeFile } from './make-file.ts'

const voice = readFixture('tiny/tiny-2026-04/voices/voice-metadata.safetensors')
const headerLength = Number(new DataView(voice.buffer).getBigUint64(0, true))
const header = new TextDecoder().decode(voice.subarray(8, 8 + headerLength))
const data = voice.subarray(8 + headerLength)

/** Opens a file and reads all of it; whatever is wrong must be said by a SafeTensorsError. */
const openAndRead = (file: Uint8Array): boolean => {
  let tensors: SafeTensors
  try {
    tensors = SafeTensors.fromBytes(file)
  } catch (error) {
    expect(error).toBeInstanceOf(SafeTensorsError)
    expect((error as Error).message.length).toBeLessThan(1000)
    return false
  }
  let total = 0
  for (const name of tensors.names()) {
    total += tensors.bytes(name).length
    expect(tensors.info(name).byteLength).toBe(tensors.bytes(name).length)
    try {
      const { data: values, shape } = tensors.f32(name)
      expect(values).toHaveLength(shape.reduce((product, size) => product * size, 1))
    } catch (error) {
      expect(error).toHaveProperty('code', 'unsupported-dtype')
    }
  }
  expect(total).toBeLessThanOrEqual(file.length - 10)
  return true
}

describe('hostile bytes', () => {
  test('the unchanged file loads', () => {
    expect(openAndRead(voice)).toBe(true)
    expect(openAndRead(makeFile(header, data))).toBe(true)
  })

  test('anything at all', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void openAndRead(bytes)))
  })

  test('a true length and any header', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        openAndRead(makeFile(Uint8Array.of(0x7b, ...bytes)))
      }),
    )
  })

  test('changed bytes, anywhere before the data', () => {
    const change = fc.tuple(fc.nat({ max: 8 + headerLength - 1 }), fc.nat({ max: 255 }))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const file = voice.slice()
        for (const [position, byte] of changes) file[position] = byte
        openAndRead(file)
      }),
      { numRuns: 2000 },
    )
  })

  test('every truncation', async () => {
    for (let length = 0; length < voice.length; length += length < 8 + headerLength ? 1 : 97) {
      expect(openAndRead(voice.subarray(0, length))).toBe(false)
      await expect(openBlob(new Blob([voice.slice(0, length)]))).rejects.toBeInstanceOf(SafeTensorsError)
    }
  })

  test('pieces of JSON put in, taken out and put in place of others', () => {
    const pieces = [
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '\\u0061',
        '\\ud800',
        ' ',
        '\u0000',
        'null',
        '-',
        '1e9',
        '0.5',
      ],
      ...[
        '"__proto__"',
        '"__metadata__"',
        '"dtype"',
        '"F32"',
        '"F4"',
        '"U64"',
        '9007199254740993',
        '[0,0]',
        '{}',
      ],
    ]
    const edit = fc.tuple(fc.nat({ max: header.length }), fc.nat({ max: 12 }), fc.constantFrom('', ...pieces))
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let text = header
        for (const [position, removed, piece] of edits) {
          text = text.slice(0, position) + piece + text.slice(position + removed)
        }
        openAndRead(makeFile(text, data))
      }),
      { numRuns: 2000 },
    )
  })

  test('numbers replaced', () => {
    const number = fc.oneof(
      fc.nat({ max: 30 }).map(String),
      fc.constantFrom(
        '-1',
        '1.0',
        '1e2',
        '4294967296',
        '9007199254740991',
        '9007199254740992',
        '1e999',
        '-0',
      ),
    )
    const places = [...header.matchAll(/\d+(?=[,\]])/g)]
    fc.assert(
      fc.property(fc.constantFrom(...places), number, (place, value) => {
        const text = header.slice(0, place.index) + value + header.slice(place.index + place[0].length)
        // Either the very same file, or one that contradicts itself.
        expect(openAndRead(makeFile(text, data))).toBe(value === place[0])
      }),
      { numRuns: 1000 },
    )
  })

  test('deep nesting and long runs end at once', () => {
    for (const run of [
      '[',
      '{"a":',
      '{"a":{"shape":[',
      '{"a":{"dtype":"',
      '{"\\',
      ' ',
      '{"a":{"shape":[1,',
      '0',
    ]) {
      expect(openAndRead(makeFile(`{${run.repeat(200_000)}`))).toBe(false)
      expect(openAndRead(makeFile(`{"a":{"shape":${run.repeat(200_000)}`))).toBe(false)
    }
  })
})
