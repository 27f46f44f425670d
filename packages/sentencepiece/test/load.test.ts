import { SentencePieceUnigram } from '@pocket/sentencepiece'
import { readFixture } from '@tooling/fixtures'
import { describe, expect, it } from 'vitest'
import {
  bytePieces,
  bytesField,
  concatenate,
  floatField,
  type TestModel,
  textField,
  unknownPiece,
  varintField,
  writeModel,
  writePiece,
} from './model-writer.ts'

const a = { text: 'a', score: -1 }
const load = (model: TestModel) => SentencePieceUnigram.fromBytes(writeModel(model))
const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ name: 'SentencePieceError', code, message: expect.stringMatching(message) })

describe('defaults', () => {
  it('are those of the format: a prefix, no extra white space, no byte fallback', () => {
    const tokenizer = load({ pieces: [unknownPiece, a, { text: '\u2581a', score: -1 }] })
    expect(tokenizer.encode('  a  ')).toEqual([2])
    expect(tokenizer.encode('a b c')).toEqual([2, 0])
    expect(tokenizer.decode([2, 0])).toBe('a \u2047 ')
  })

  it('make a piece normal with score 0', () => {
    const model = concatenate([writePiece(unknownPiece), bytesField(1, textField(1, 'a'))])
    expect(SentencePieceUnigram.fromBytes(model).encode('a')).toEqual([0, 1])
  })
})

describe('settings', () => {
  it('take the surface of unknown pieces from the model', () => {
    const tokenizer = load({ pieces: [unknownPiece, a], unknownSurface: '?' })
    expect(tokenizer.decode([0, 1, 0])).toBe('?a?')
  })

  it('keep spaces as spaces where escape_whitespaces is off', () => {
    const pieces = [unknownPiece, a, { text: ' ', score: -1 }]
    expect(load({ pieces, escapeWhitespaces: false }).encode(' a  a')).toEqual([2, 1, 2, 1])
  })

  it('merge a message that occurs twice, the later value winning', () => {
    const model = concatenate([
      writePiece(unknownPiece),
      writePiece(a),
      bytesField(3, [...varintField(3, 0), ...varintField(4, 1)]),
      bytesField(3, varintField(4, 0)),
    ])
    const tokenizer = SentencePieceUnigram.fromBytes(model)
    expect(tokenizer.encode('aa')).toEqual([1, 1])
    expect(tokenizer.encode('a ')).toEqual([1, 0])
  })

  it('skip a known field of another wire type', () => {
    const piece = bytesField(1, [...textField(1, 'a'), ...varintField(2, 7), ...floatField(3, 6)])
    const model = concatenate([writePiece(unknownPiece), piece, varintField(2, 1)])
    expect(SentencePieceUnigram.fromBytes(model).pieceToId('a')).toBe(1)
  })

  it('let a normal piece share its text with a control piece', () => {
    const pieces = [unknownPiece, { text: '<s>', kind: 3 }, { text: '<s>', score: -1 }, a]
    const tokenizer = load({ pieces, addDummyPrefix: false })
    expect(tokenizer.encode('a<s>')).toEqual([3, 2])
    expect(tokenizer.pieceToId('<s>')).toBe(1)
  })
})

describe('refusals', () => {
  it.each([
    ['bpe', /type 2 \(BPE\)/],
    ['word', /type 3 \(WORD\)/],
    ['char', /type 4 \(CHAR\)/],
    ['model-type-unknown', /type \d+ \(an unknown type\)/],
    ['nmt-nfkc', /charsmap for its normalizer 'nmt_nfkc'/],
    ['identity-with-charsmap', /charsmap for its normalizer 'identity'/],
    ['normalizer-name-nfkc', /the normalizer 'nfkc'/],
    ['suffix-whitespace', /white space as a suffix/],
  ])('%s: unsupported', (name, message) => {
    const bytes = readFixture(`tokenizer/refuse/${name}.model`)
    expect(() => SentencePieceUnigram.fromBytes(bytes)).toThrow(refusal('unsupported-model', message))
  })

  it.each([
    ['html', /wire type|announces|tag/],
    ['lfs-pointer', /wire type|announces|tag/],
    ['truncated-in-pieces', /announces \d+ bytes for field 1 where \d+ are left/],
    ['truncated-by-one', /announces/],
    ['length-huge', /announces/],
    ['varint-too-long', /more than ten bytes/],
    ['piece-not-utf8', /text of piece \d+ is not UTF-8/],
  ])('%s: malformed', (name, message) => {
    const bytes = readFixture(`tokenizer/refuse/${name}.model`)
    expect(() => SentencePieceUnigram.fromBytes(bytes)).toThrow(refusal('malformed-file', message))
  })

  it.each<[string, TestModel, RegExp]>([
    ['no pieces', { pieces: [] }, /holds no pieces/],
    ['no <unk>', { pieces: [a] }, /none of its 1 pieces is of the kind unknown/],
    ['two <unk>', { pieces: [unknownPiece, a, { text: '<u>', kind: 2 }] }, /pieces 0 and 2 are both/],
    ['a piece twice', { pieces: [unknownPiece, a, a] }, /pieces 1 and 2 have the same text 'a'/],
    ['an empty piece', { pieces: [unknownPiece, { text: '' }] }, /piece 1 has no text/],
    ['a NUL in a piece', { pieces: [unknownPiece, { text: 'a\0' }] }, /piece 1 holds a NUL/],
    [
      'a score of NaN',
      { pieces: [unknownPiece, { text: 'a', score: Number.NaN }] },
      /score of piece 1 is NaN/,
    ],
    ['an infinite score', { pieces: [unknownPiece, { text: 'a', score: -Infinity }] }, /-Infinity/],
    ['kind 0', { pieces: [unknownPiece, { text: 'a', kind: 0 }] }, /piece 1 is of kind 0/],
    ['kind 7', { pieces: [unknownPiece, { text: 'a', kind: 7 }] }, /piece 1 is of kind 7/],
    ['only reserved pieces', { pieces: [unknownPiece, { text: '<s>', kind: 3 }] }, /no piece can take part/],
    ['only unused pieces', { pieces: [unknownPiece, { text: 'a', kind: 5 }] }, /no piece can take part/],
    [
      'a byte piece without byte fallback',
      { pieces: [unknownPiece, a, { text: '<0x41>', kind: 6 }] },
      /byte_fallback is off/,
    ],
    [
      'byte fallback with a byte missing',
      { pieces: [unknownPiece, a, ...bytePieces().slice(0, 255)], byteFallback: true },
      /no piece stands for byte 255/,
    ],
    [
      'a byte in small letters',
      { pieces: [unknownPiece, a, { text: '<0xab>', kind: 6 }], byteFallback: true },
      /byte piece 2 is '<0xab>'/,
    ],
  ])('%s: invalid', (_, model, message) => {
    expect(() => load(model)).toThrow(refusal('invalid-model', message))
  })

  it('a charsmap for the denormalizer: unsupported', () => {
    const model = { pieces: [unknownPiece, a], denormalizerCharsmap: Uint8Array.of(1, 2, 3) }
    expect(() => load(model)).toThrow(refusal('unsupported-model', /charsmap for its denormalizer/))
  })

  it('cut a long text in their message', () => {
    const long = { text: 'x'.repeat(10_000) }
    expect(() => load({ pieces: [unknownPiece, long, long] })).toThrow(/^.{1,200}$/)
  })
})
