import { SentencePieceError, SentencePieceUnigram } from '@pocket/sentencepiece'
import { readFixture } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const load = (name: string) => SentencePieceUnigram.fromBytes(readFixture(`tokenizer/${name}.model`))

const tokenizers = {
  sp4000: load('sp4000'),
  sp1000: load('sp1000'),
  'sp-user': load('sp-user'),
  'sp-nodummy': load('sp-nodummy'),
  'sp4000-rew': load('sp4000-rew'),
  'sp-nobyte': load('sp-nobyte'),
}
const all = Object.entries(tokenizers)
const withBytesAndSpaces = all.slice(0, 4)

/** Any UTF-16, lone surrogates included, mixed with what pieces are made of. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ' ',
        ' ',
        '  ',
        '\u2581',
        'the',
        ' TTS',
        '<laugh>',
        '<s>',
        '<0x41>',
        'é',
        '\n',
        '\0',
        '\ufeff',
      ),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''))

const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, '\ufffd')

describe('encode, then decode', () => {
  it.each(withBytesAndSpaces)(
    '%s gives the text back, with each ▁ as the space it stands for',
    (_, tokenizer) => {
      fc.assert(
        fc.property(anyText, (text) => {
          const expected = wellFormed(text).replaceAll('\u2581', ' ')
          expect(tokenizer.decode(tokenizer.encode(text))).toBe(expected)
        }),
        { numRuns: 500 },
      )
    },
  )

  it('sp4000-rew gives the text back without its extra spaces', () => {
    const tokenizer = tokenizers['sp4000-rew']
    fc.assert(
      fc.property(anyText, (text) => {
        const source = wellFormed(text).replaceAll('\u2581', '_')
        const expected = source.replace(/^ +| +$/g, '').replace(/ +/g, ' ')
        expect(tokenizer.decode(tokenizer.encode(source))).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })
})

describe.each(all)('%s', (name, tokenizer) => {
  it('gives ids of the vocabulary, as many as encodeWithSpans', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const ids = tokenizer.encode(text)
        for (const id of ids) expect(tokenizer.pieceToId(tokenizer.idToPiece(id))).toBe(id)
        expect(tokenizer.encodeWithSpans(text).map(({ id }) => id)).toEqual(ids)
      }),
    )
  })

  it('gives spans in order, without overlap, each of them the text of its piece', () => {
    const removesSpaces = name === 'sp4000-rew'
    fc.assert(
      fc.property(anyText, (text) => {
        let position = 0
        for (const { id, start, end } of tokenizer.encodeWithSpans(text)) {
          expect(end).toBeGreaterThanOrEqual(start)
          expect(text.slice(position, start)).toMatch(removesSpaces ? /^ *$/ : /^$/)
          position = end
          const piece = tokenizer.idToPiece(id)
          if (/^<(unk|0x..)>$/.test(piece)) continue
          const part = wellFormed(text.slice(start, end))
          const kept = removesSpaces ? part.replace(/ +/g, ' ') : part
          // The space that was put before the text is part of no span.
          expect([piece, piece.slice(1)]).toContain(kept.replaceAll(' ', '\u2581'))
        }
        expect(text.slice(position)).toMatch(removesSpaces ? /^[ \u2581]*$/ : /^$/)
      }),
    )
  })

  it('does not depend on what it encoded before', () => {
    const before = tokenizer.encode('The quick brown fox.')
    tokenizer.encode('🦊'.repeat(100))
    expect(tokenizer.encode('The quick brown fox.')).toEqual(before)
  })
})

describe('encodeWithSpans', () => {
  const spans = (name: keyof typeof tokenizers, text: string) =>
    tokenizers[name]
      .encodeWithSpans(text)
      .map(({ id, start, end }) => [tokenizers[name].idToPiece(id), start, end])

  // As the library gives them (0.2.2, `encode(text, return_type='proto')`), in UTF-16 units.
  it('leaves the prefix out, and gives the last byte of a character all of it', () => {
    expect(spans('sp1000', 'Hé 😀 x')).toEqual([
      ['▁H', 0, 1],
      ['é', 1, 2],
      ['▁', 2, 3],
      ['<0xF0>', 3, 3],
      ['<0x9F>', 3, 3],
      ['<0x98>', 3, 3],
      ['<0x80>', 3, 5],
      ['▁', 5, 6],
      ['x', 6, 7],
    ])
  })

  it('skips leading and trailing spaces that were removed', () => {
    expect(spans('sp4000-rew', '  the   the ')).toEqual([
      ['▁the', 2, 5],
      ['▁the', 5, 11],
    ])
  })

  it('joins a run of unknown characters', () => {
    expect(spans('sp-nobyte', 'a😀😀')).toEqual([
      ['▁a', 0, 1],
      ['<unk>', 1, 5],
    ])
  })
})

describe('pieces', () => {
  const tokenizer = tokenizers['sp-user']

  it('are found by their spelling, reserved ones too', () => {
    expect(tokenizer.pieceToId('<ctl>')).toBe(4)
    expect(tokenizer.pieceToId('<0x0A>')).toBe(22)
    expect(tokenizer.pieceToId('no such piece')).toBeUndefined()
    // Not a property of any object in between.
    expect(tokenizer.pieceToId('constructor')).toBeUndefined()
  })

  it.each([-1, 1000, 2 ** 30, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('id %d is out of range', (id) => {
    const outOfRange = expect.objectContaining({ code: 'id-out-of-range' })
    expect(() => tokenizer.idToPiece(id)).toThrow(outOfRange)
    expect(() => tokenizer.decode([286, id])).toThrow(outOfRange)
  })

  it('decode from any iterable', () => {
    expect(tokenizer.decode(new Uint32Array([286, 340]))).toBe('the que')
    expect(tokenizer.decode(new Set([286, 340]))).toBe('the que')
  })
})

describe('untyped code', () => {
  const invalid = expect.objectContaining({ code: 'invalid-argument' })

  it.each([[undefined], [null], [42], [['text']]])('gets a clear error for the text %s', (text) => {
    expect(() => tokenizers.sp1000.encode(text as unknown as string)).toThrow(invalid)
  })

  it.each([[undefined], ['tokenizer.model'], [{}], [new ArrayBuffer(8)], [new Uint16Array(4)]])(
    'gets a clear error for the model %s',
    (model) => {
      expect(() => SentencePieceUnigram.fromBytes(model as unknown as Uint8Array)).toThrow(invalid)
    },
  )

  it('is told how to pass an ArrayBuffer', () => {
    const buffer = new ArrayBuffer(8) as unknown as Uint8Array
    expect(() => SentencePieceUnigram.fromBytes(buffer)).toThrow(
      /type ArrayBuffer; .*new Uint8Array\(buffer\)/,
    )
  })

  it('can tell the error by its class, its name and its code', () => {
    const error = new SentencePieceError('invalid-model', 'why', { cause: 1 })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'SentencePieceError',
      code: 'invalid-model',
      message: 'why',
      cause: 1,
    })
  })
})

it('reads a model that is a view into a larger buffer, and does not keep it', () => {
  const model = readFixture('tokenizer/sp1000.model')
  const larger = new Uint8Array(model.length + 10).fill(0xff)
  larger.set(model, 7)
  const view = larger.subarray(7, 7 + model.length)
  const tokenizer = SentencePieceUnigram.fromBytes(view)
  larger.fill(0)
  expect(tokenizer.encode('Hello world.')).toEqual(tokenizers.sp1000.encode('Hello world.'))
})
