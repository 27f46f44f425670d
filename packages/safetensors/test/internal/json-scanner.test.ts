import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonScanner } from '../../src/json-scanner.ts'
import { failure, failureCode } from '../make-file.ts'

/** Reads any value of the subset that headers use, as JSON.parse would; objects as pairs. */
const read = (json: JsonScanner): unknown => {
  switch (json.kind()) {
    case 'object': {
      const pairs: [string, unknown][] = []
      json.object('the object', (key) => pairs.push([key, read(json)]))
      return Object.fromEntries(pairs)
    }
    case 'array': {
      const items: unknown[] = []
      json.array(() => items.push(read(json)))
      return items
    }
    case 'string':
      return json.string()
    case 'number':
      return Number(json.number())
    case 'literal':
      throw new Error('a header has no literals')
  }
}

const parse = (text: string): unknown => {
  const json = new JsonScanner(text)
  const value = read(json)
  json.end()
  return value
}

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.nat(),
    fc.array(tie('value')),
    fc.dictionary(fc.string({ unit: 'binary' }), tie('value')),
  ),
}))

describe('JsonScanner', () => {
  test('reads what JSON.stringify writes, with and without white space', () => {
    fc.assert(
      fc.property(value, fc.constantFrom('', ' ', '\t', '\n\r '), (json, space) => {
        const text = JSON.stringify(json, null, space)
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('accepts no text that JSON.parse refuses', () => {
    const fragments = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\\u00e9',
      '\\ud800',
      '0',
      '1',
      '-',
      '.',
      'e',
      ' ',
      'a',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        let parsed: unknown
        try {
          parsed = parse(text)
        } catch (error) {
          expect(error).toHaveProperty('name', 'SafeTensorsError')
          return
        }
        expect(parsed).toEqual(JSON.parse(text))
      }),
      { numRuns: 10_000 },
    )
  })

  test('sees through escapes when it looks for duplicates', async () => {
    for (const [a, b] of [
      ['a', '\\u0061'],
      ['/', '\\/'],
      ['\\n', '\\u000a'],
      ['😀', '\\ud83d\\ude00'],
      ['\\u00E9', '\\u00e9'],
    ]) {
      expect(await failureCode(() => parse(`{"${a}":0,"${b}":0}`))).toBe('duplicate-key')
    }
    expect(parse('{"a":0,"\\\\u0061":0}')).toEqual({ a: 0, '\\u0061': 0 })
  })

  test('tells where it stopped and what it found', async () => {
    expect((await failure(() => parse('{"a":1 "b":2}'))).message).toBe(
      `the header is not valid JSON: expected '}' at character 7, found "\\"b\\":2}"`,
    )
    expect((await failure(() => parse('{"a'))).message).toContain(
      'expected the rest of a string at character 3',
    )
    expect((await failure(() => parse('[1,'))).message).toContain('found its end')
  })

  test('spells numbers out, and refuses endless ones', async () => {
    expect(new JsonScanner(' -0 ').number()).toBe('-0')
    expect(new JsonScanner('1.50e+3').number()).toBe('1.50e+3')
    for (const text of ['01', '+1', '.5', '1.', '1e', '--1', '1'.repeat(100_000)]) {
      expect(await failureCode(() => parse(text))).toBe('invalid-header')
    }
  })

  test('bounds the members of an object', async () => {
    const most = 2 ** 18
    const members = Array.from({ length: most }, (_, i) => `"${i}":0`).join(',')
    let count = 0
    const readAll = (text: string) => {
      const json = new JsonScanner(text)
      json.object('the object', () => {
        json.number()
        count++
      })
    }
    readAll(`{${members}}`)
    expect(count).toBe(most)
    expect(await failureCode(() => readAll(`{${members},"more":0}`))).toBe('header-too-large')
  })
})
