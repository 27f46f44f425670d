import { SentencePieceError, SentencePieceUnigram } from '@pocket/sentencepiece'
import { readFixture, readJson } from '@tooling/fixtures'
import { describe, expect, it } from 'vitest'

interface EncodeGoldens {
  models: Record<
    string,
    { file: string; vocab_size: number; unk_id: number; pieces_head: string[]; pieces_tail: string[] }
  >
  cases: { name: string; text: string; ids: Record<string, number[]> }[]
}

interface DecodeGoldens {
  cases: Record<string, { name: string; ids: number[]; text?: string; error?: string }[]>
}

interface LoadGoldens {
  cases: {
    name: string
    file: string
    must: 'load' | 'refuse'
    why: string
    encode?: { text: string; ids: number[] }
  }[]
}

const encodeGoldens = readJson<EncodeGoldens>('tokenizer/encode.json')
const decodeGoldens = readJson<DecodeGoldens>('tokenizer/decode.json')
const loadGoldens = readJson<LoadGoldens>('tokenizer/refuse.json')

const load = (file: string) => SentencePieceUnigram.fromBytes(readFixture(`tokenizer/${file}`))

describe.each(Object.entries(encodeGoldens.models))('%s', (model, settings) => {
  const tokenizer = load(settings.file)
  const encodeCases = encodeGoldens.cases.filter(({ ids }) => ids[model])
  const decodeCases = decodeGoldens.cases[model] ?? []

  it('has the pieces of the library', () => {
    expect(tokenizer.vocabSize).toBe(settings.vocab_size)
    const pieces = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.idToPiece(id))
    expect(pieces.slice(0, settings.pieces_head.length)).toEqual(settings.pieces_head)
    expect(pieces.slice(-settings.pieces_tail.length)).toEqual(settings.pieces_tail)
    expect(pieces.map((piece) => tokenizer.pieceToId(piece))).toEqual(pieces.map((_, id) => id))
    expect(tokenizer.idToPiece(settings.unk_id)).toBe('<unk>')
  })

  it(`encodes ${encodeCases.length} texts to the same ids`, () => {
    expect(encodeCases.length).toBeGreaterThan(400)
    for (const { name, text, ids } of encodeCases) expect(tokenizer.encode(text), name).toEqual(ids[model])
  })

  it(`decodes ${decodeCases.length} id sequences to the same texts`, () => {
    expect(decodeCases.length).toBeGreaterThan(150)
    for (const { name, ids, text, error } of decodeCases) {
      if (error) expect(() => tokenizer.decode(ids), name).toThrow(SentencePieceError)
      else expect(tokenizer.decode(ids), name).toBe(text)
    }
  })
})

describe('model files', () => {
  it.each(loadGoldens.cases.filter(({ must }) => must === 'refuse'))('$name is refused: $why', ({ file }) => {
    expect(() => load(file)).toThrow(SentencePieceError)
  })

  it.each(loadGoldens.cases.filter(({ must }) => must === 'load'))('$name loads', ({ file, encode }) => {
    expect(load(file).encode(encode!.text)).toEqual(encode!.ids)
  })
})
