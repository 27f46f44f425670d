import { SentencePieceError, SentencePieceUnigram } from '@pocket/sentencepiece'
import { readFixture } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytePieces, concatenate, type TestPiece, unknownPiece, writeModel } from './model-writer.ts'

const models = ['sp1000', 'sp-user', 'sp-nobyte'].map((name) => readFixture(`tokenizer/${name}.model`))

/** Loads and works, or throws a `SentencePieceError`; anything else fails the test. */
const loadsOrRefuses = (bytes: Uint8Array): void => {
  let tokenizer: SentencePieceUnigram
  try {
    tokenizer = SentencePieceUnigram.fromBytes(bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(SentencePieceError)
    return
  }
  const ids = tokenizer.encode(' The <laugh> is ▁▁ 😀\ud800. ')
  expect(ids.every((id) => Number.isInteger(id) && id >= 0 && id < tokenizer.vocabSize)).toBe(true)
  expect(typeof tokenizer.decode(ids)).toBe('string')
}

const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** Replaces a stretch of a model by other bytes: flips, cuts, insertions and truncations are all of that. */
const mutation = fc.record({
  at: position,
  removed: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 20_000 })),
  inserted: fc.uint8Array({ maxLength: 6 }),
})

const mutate = (
  model: Uint8Array,
  { at, removed, inserted }: typeof mutation extends fc.Arbitrary<infer T> ? T : never,
) => {
  const start = Math.floor(at * model.length)
  return concatenate([model.subarray(0, start), inserted, model.subarray(start + removed)])
}

describe('fuzzing', () => {
  it('mutated models load or are refused', () => {
    const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.constantFrom(...models), mutations, (model, changes) => {
        loadsOrRefuses(changes.reduce(mutate, model))
      }),
      { numRuns: 600 },
    )
  })

  it('models with their settings mutated load or are refused', () => {
    // The settings are the last 200 bytes or so; a mutation anywhere rarely meets them.
    fc.assert(
      fc.property(fc.constantFrom(...models), position, fc.nat(255), (model, at, byte) => {
        const changed = model.slice()
        changed[model.length - 1 - Math.floor(at * 200)] = byte
        loadsOrRefuses(changed)
      }),
      { numRuns: 400 },
    )
  })

  it('random bytes are refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => SentencePieceUnigram.fromBytes(bytes)).toThrow(SentencePieceError)
      }),
      { numRuns: 1000 },
    )
  })

  it('every truncation of a model is refused or lacks only settings', () => {
    const model = writeModel({ pieces: [unknownPiece, { text: 'a', score: -1 }], normalizerName: 'identity' })
    for (let length = 0; length < model.length; length++) loadsOrRefuses(model.subarray(0, length))
  })
})

// Each of these would take minutes or gigabytes with a quadratic step anywhere.
describe('models made to hurt', () => {
  const load = (pieces: TestPiece[]) =>
    SentencePieceUnigram.fromBytes(writeModel({ pieces: [unknownPiece, ...pieces], addDummyPrefix: false }))

  it('a million empty pieces', () => {
    const bytes = new Uint8Array(2_000_000)
    for (let i = 0; i < bytes.length; i += 2) bytes[i] = 0x0a
    expect(() => SentencePieceUnigram.fromBytes(bytes)).toThrow(/has no text/)
  })

  it('a hundred thousand pieces of many scripts', () => {
    const pieces = Array.from({ length: 100_000 }, (_, i) => ({
      text: String.fromCodePoint(0x10000 + i, 0x61 + (i % 26)),
      score: -1,
    }))
    const tokenizer = load(pieces)
    expect(tokenizer.encode(pieces.map(({ text }) => text).join(''))).toEqual(pieces.map((_, i) => i + 1))
  })

  it('a piece of half a million letters, and a text that nearly holds it', () => {
    const tokenizer = load([
      { text: `${'a'.repeat(500_000)}b`, score: -1 },
      { text: 'a', score: -1 },
    ])
    expect(tokenizer.encode('a'.repeat(1_000_000))).toHaveLength(1_000_000)
    expect(tokenizer.encode(`${'a'.repeat(500_001)}b`)).toEqual([2, 1])
  })

  it('every run of a letter up to 300, so that 300 pieces end everywhere', () => {
    const tokenizer = load(Array.from({ length: 300 }, (_, i) => ({ text: 'a'.repeat(i + 1), score: -1 })))
    const ids = tokenizer.encode('a'.repeat(30_000))
    expect(ids).toEqual(Array(100).fill(300))
  })

  it('a user-defined piece that almost matches everywhere, where spaces are removed', () => {
    const symbol = { text: `${' '.repeat(50_000)}x`, kind: 4 }
    const model = writeModel({ pieces: [unknownPiece, symbol, { text: 'a', score: -1 }] })
    const tokenizer = SentencePieceUnigram.fromBytes(model)
    expect(tokenizer.encode(`${' '.repeat(400_000)}a`)).toEqual([0, 2])
  })

  it('runs of spaces, where they are removed', () => {
    const tokenizer = load([
      { text: 'a', score: -1 },
      { text: '\u2581', score: -1 },
    ])
    expect(tokenizer.encode(`a${' '.repeat(1_000_000)}`)).toEqual([1])
    expect(tokenizer.encode('a  '.repeat(300_000))).toHaveLength(599_999)
  })

  it('scores that overflow float32', () => {
    const pieces = [
      { text: 'a', score: -3e38 },
      { text: 'aa', score: -3.4e38 },
      { text: 'b', score: 3.4e38 },
      { text: 'ab', kind: 4 },
    ]
    expect(load(pieces).decode(load(pieces).encode('aaabbbab'))).toBe('aaabbbab')
  })

  it('characters without a piece, every one four bytes', () => {
    const pieces = [unknownPiece, { text: 'a', score: -1 }, ...bytePieces()]
    const tokenizer = SentencePieceUnigram.fromBytes(
      writeModel({ pieces, byteFallback: true, addDummyPrefix: false }),
    )
    const text = '😀'.repeat(250_000)
    const ids = tokenizer.encode(text)
    expect(ids).toHaveLength(1_000_000)
    expect(tokenizer.decode(ids) === text).toBe(true)
  })
})
