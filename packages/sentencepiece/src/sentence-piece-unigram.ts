import { Decoder } from './decoder.ts'
import { SentencePieceError } from './error.ts'
import { checkSupported, type ModelFile, PieceKind, readModelFile } from './model-file.ts'
import { type KeptRun, Normalizer } from './normalizer.ts'
import { UnigramModel } from './unigram-model.ts'
import { utf8Bytes } from './utf8.ts'
import { Vocabulary } from './vocabulary.ts'

/** A token and the part of the input that it stands for. */
export interface TokenSpan {
  id: number
  /** First UTF-16 code unit, so that `text.slice(start, end)` is the part. */
  start: number
  /** One past the last code unit; equal to `start` for a token that stands for no input of its own. */
  end: number
}

/**
 * A SentencePiece unigram tokenizer. It gives the ids and texts of the reference library (0.2.1), ties
 * included. An instance is immutable: calls do not affect one another.
 */
export class SentencePieceUnigram {
  readonly #vocabulary: Vocabulary
  readonly #normalizer: Normalizer
  readonly #model: UnigramModel
  readonly #decoder: Decoder

  private constructor(file: ModelFile) {
    const vocabulary = new Vocabulary(file)
    const userDefined = vocabulary.entries.filter(({ kind }) => kind === PieceKind.userDefined)
    this.#vocabulary = vocabulary
    this.#normalizer = new Normalizer(
      file.normalizer,
      userDefined.map(({ text }) => text),
    )
    this.#model = new UnigramModel(vocabulary)
    this.#decoder = new Decoder(file, vocabulary)
  }

  /**
   * Reads a model file (`tokenizer.model`, a serialized `ModelProto`). Time and memory grow with its length
   * (times its logarithm, to sort), whatever it holds; the bytes are not kept.
   *
   * @throws SentencePieceError `malformed-file` (truncated or foreign bytes), `unsupported-model` (BPE, word
   *   and character models, charsmaps, white space as a suffix), `invalid-model` (no `<unk>`, a piece twice,
   *   a byte piece missing …) or `invalid-argument` (not a `Uint8Array`)
   */
  static fromBytes(model: Uint8Array): SentencePieceUnigram {
    if (!isUint8Array(model)) {
      throw new SentencePieceError(
        'invalid-argument',
        `The model is of type ${typeName(model)}; expected a Uint8Array (for an ArrayBuffer: new Uint8Array(buffer)).`,
      )
    }
    const file = readModelFile(model)
    checkSupported(file)
    return new SentencePieceUnigram(file)
  }

  /** Number of pieces; ids run from 0 to `vocabSize - 1`. */
  get vocabSize(): number {
    return this.#vocabulary.size
  }

  /**
   * The ids of the most probable cut of `text`. Takes time proportional to its length. No control ids are
   * added, and control pieces and `<unk>` are not recognised in the text. Lone surrogates count as U+FFFD.
   *
   * @throws SentencePieceError `invalid-argument` where `text` is not a string
   */
  encode(text: string): number[] {
    const ids: number[] = []
    this.#cut(text, (id) => ids.push(id))
    return ids
  }

  /**
   * `encode` with the part of `text` that each id stands for. Parts are in order and never overlap. The
   * space that is put before a text belongs to no part; a space that is dropped because another stands
   * before it belongs to the token of that one; of the bytes of a character, the last has the character
   * and the others an empty part at its start.
   *
   * @throws SentencePieceError `invalid-argument` where `text` is not a string
   */
  encodeWithSpans(text: string): TokenSpan[] {
    const spans: TokenSpan[] = []
    const runs = this.#cut(text, (id, start, end) => spans.push({ id, start, end }))
    const toInput = inputPositions(runs)
    for (const span of spans) {
      span.start = toInput(span.start)
      span.end = toInput(span.end)
    }
    return spans
  }

  /**
   * The text of `ids`. Control pieces stand for nothing and `<unk>` for the surface that the model names
   * (` ⁇ ` unless it says otherwise). Byte pieces are joined; each byte that is part of no well-formed
   * character becomes one U+FFFD. The space that `encode` puts before a text is dropped.
   *
   * @throws SentencePieceError `id-out-of-range`
   */
  decode(ids: Iterable<number>): string {
    return this.#decoder.decode(ids)
  }

  /**
   * The piece as the model spells it: `▁` for a space, `<0x0A>` for a byte.
   *
   * @throws SentencePieceError `id-out-of-range`
   */
  idToPiece(id: number): string {
    return this.#vocabulary.entry(id).text
  }

  /** The id of a piece as the model spells it, control and byte pieces included. */
  pieceToId(piece: string): number | undefined {
    return this.#vocabulary.idOf(piece)
  }

  /** Reports each token with its place in the normalised text, and returns where that came from. */
  #cut(text: string, report: (id: number, start: number, end: number) => void): readonly KeptRun[] {
    if (typeof text !== 'string') {
      throw new SentencePieceError(
        'invalid-argument',
        `The text is of type ${typeName(text)}; expected a string.`,
      )
    }
    const normalized = this.#normalizer.normalize(text.replace(loneSurrogates, '\ufffd'))
    const { unknownId, byteIds } = this.#vocabulary
    const { ids, ends } = this.#model.segment(normalized.text)
    let start = 0
    for (let i = 0; i < ids.length; i++) {
      let end = ends[i]!
      if (ids[i] !== unknownId) {
        report(ids[i]!, start, end)
      } else if (byteIds) {
        const bytes = utf8Bytes(normalized.text.codePointAt(start)!)
        const last = bytes.length - 1
        bytes.forEach((byte, index) => {
          report(byteIds[byte]!, start, index === last ? end : start)
        })
      } else {
        // A run of unknown characters is one token.
        while (ids[i + 1] === unknownId) end = ends[++i]!
        report(unknownId, start, end)
      }
      start = end
    }
    return normalized.runs
  }
}

/** With the flag `u`, a surrogate of a pair is not a character of its own, so only lone ones match. */
const loneSurrogates = /\p{Surrogate}/gu

/** A function from positions in the normalised text, in ascending order, to positions in the input. */
const inputPositions = (runs: readonly KeptRun[]): ((position: number) => number) => {
  let index = 0
  return (position) => {
    while (index + 1 < runs.length && runs[index + 1]!.start <= position) index++
    const run = runs[index]
    return run ? run.inputStart + Math.max(0, position - run.start) : 0
  }
}

/** By its tag, because `instanceof` fails for arrays of another realm. */
const isUint8Array = (value: unknown): boolean =>
  Object.prototype.toString.call(value) === '[object Uint8Array]'

const typeName = (value: unknown): string => {
  if (value === null) return 'null'
  return typeof value === 'object' ? (value.constructor?.name ?? 'object') : typeof value
}
