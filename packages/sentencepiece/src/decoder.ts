import { type ModelFile, PieceKind } from './model-file.ts'
import { spaceSymbol } from './normalizer.ts'
import { decodeLossyUtf8 } from './utf8.ts'
import { byteOfPiece, type Vocabulary } from './vocabulary.ts'

/** Turns ids back into text. */
export class Decoder {
  readonly #vocabulary: Vocabulary
  readonly #unknownSurface: string
  readonly #dropsLeadingSpace: boolean
  readonly #dropsOnlyOne: boolean

  constructor({ trainer, normalizer }: ModelFile, vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
    this.#unknownSurface = trainer.unknownSurface
    this.#dropsLeadingSpace = normalizer.addDummyPrefix || normalizer.removeExtraWhitespaces
    this.#dropsOnlyOne = !normalizer.removeExtraWhitespaces
  }

  /** @throws SentencePieceError `id-out-of-range` */
  decode(ids: Iterable<number>): string {
    let text = ''
    let bytes: number[] = []
    let atStart = this.#dropsLeadingSpace
    for (const id of ids) {
      const { text: piece, kind } = this.#vocabulary.entry(id)
      if (kind === PieceKind.byte) {
        bytes.push(byteOfPiece(piece)!)
        continue
      }
      // Any other piece ends a run of bytes, even one that stands for no text.
      if (bytes.length > 0) {
        text += decodeLossyUtf8(bytes)
        bytes = []
      }
      if (kind === PieceKind.control) continue
      if (kind === PieceKind.unknown) {
        text += this.#unknownSurface
        continue
      }
      atStart &&= text === ''
      const isPrefixed = atStart && piece.startsWith(spaceSymbol)
      text += (isPrefixed ? piece.slice(1) : piece).replaceAll(spaceSymbol, ' ')
      if (isPrefixed && this.#dropsOnlyOne) atStart = false
    }
    return text + decodeLossyUtf8(bytes)
  }
}
