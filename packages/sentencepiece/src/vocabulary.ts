import { SentencePieceError } from './error.ts'
import { type ModelFile, type PieceEntry, PieceKind } from './model-file.ts'

/** The pieces of a model, checked by the reference library's own rules, and their two-way index. */
export class Vocabulary {
  readonly entries: readonly PieceEntry[]
  readonly unknownId: number
  /** Piece of each byte value; undefined for a model without byte fallback. */
  readonly byteIds: Int32Array | undefined
  /**
   * Two name spaces, as in the library: `<s>` may be a control piece and, as text, a normal piece too.
   * Text never matches a reserved piece.
   */
  readonly #reservedIds = new Map<string, number>()
  readonly #textIds = new Map<string, number>()

  /** @throws SentencePieceError `invalid-model` */
  constructor({ pieces, trainer }: ModelFile) {
    this.entries = pieces
    this.byteIds = trainer.byteFallback ? new Int32Array(256).fill(-1) : undefined
    let unknownId = -1
    for (const [id, piece] of pieces.entries()) {
      checkPiece(piece, id)
      this.#index(piece, id)
      if (piece.kind === PieceKind.byte) this.#addByte(piece, id)
      if (piece.kind === PieceKind.unknown) {
        if (unknownId !== -1) throw invalid(`pieces ${unknownId} and ${id} are both of the kind unknown`)
        unknownId = id
      }
    }
    if (pieces.length === 0) throw invalid('it holds no pieces')
    if (unknownId === -1) throw invalid(`none of its ${pieces.length} pieces is of the kind unknown`)
    this.unknownId = unknownId
    this.#checkComplete()
  }

  get size(): number {
    return this.entries.length
  }

  /** @throws SentencePieceError `id-out-of-range` */
  entry(id: number): PieceEntry {
    const entry = this.entries[id]
    if (entry === undefined) {
      throw new SentencePieceError(
        'id-out-of-range',
        `The id ${id} is not in the vocabulary; expected a whole number from 0 to ${this.size - 1}.`,
      )
    }
    return entry
  }

  idOf(text: string): number | undefined {
    return this.#reservedIds.get(text) ?? this.#textIds.get(text)
  }

  #index({ text, kind }: PieceEntry, id: number): void {
    const isReserved = kind === PieceKind.unknown || kind === PieceKind.control || kind === PieceKind.byte
    const ids = isReserved ? this.#reservedIds : this.#textIds
    const other = ids.get(text)
    if (other !== undefined) throw invalid(`pieces ${other} and ${id} have the same text ${quote(text)}`)
    ids.set(text, id)
  }

  #addByte({ text }: PieceEntry, id: number): void {
    if (!this.byteIds) {
      throw invalid(`piece ${id} (${quote(text)}) stands for a byte, but byte_fallback is off`)
    }
    const byte = byteOfPiece(text)
    if (byte === undefined) {
      throw invalid(`the byte piece ${id} is ${quote(text)}; expected '<0x00>' to '<0xFF>', in capitals`)
    }
    this.byteIds[byte] = id
  }

  #checkComplete(): void {
    const missing = this.byteIds?.indexOf(-1) ?? -1
    if (missing !== -1) throw invalid(`byte_fallback is on, but no piece stands for byte ${missing}`)
    const cuts = this.entries.some(({ kind }) => kind === PieceKind.normal || kind === PieceKind.userDefined)
    if (!cuts) throw invalid('no piece can take part in a segmentation')
  }
}

/** The value of a byte piece: 171 for `<0xAB>`. */
export const byteOfPiece = (text: string): number | undefined =>
  /^<0x[0-9A-F]{2}>$/.test(text) ? Number.parseInt(text.slice(3, 5), 16) : undefined

const lastKind = PieceKind.byte

const checkPiece = ({ text, score, kind }: PieceEntry, id: number): void => {
  if (text === '') throw invalid(`piece ${id} has no text`)
  // The library ends strings at a NUL and refuses such a piece.
  if (text.includes('\0')) throw invalid(`piece ${id} holds a NUL character`)
  if (!Number.isFinite(score)) throw invalid(`the score of piece ${id} is ${score}; expected a finite number`)
  if (kind < PieceKind.normal || kind > lastKind) {
    throw invalid(`piece ${id} is of kind ${kind}; expected 1 to ${lastKind}`)
  }
}

/** Long texts are cut: a message should fit on a screen whatever the file holds. */
const quote = (text: string): string => `'${text.length > 40 ? `${text.slice(0, 40)}…` : text}'`

const invalid = (what: string): SentencePieceError =>
  new SentencePieceError('invalid-model', `The model is invalid: ${what}. Download or train it again.`)
