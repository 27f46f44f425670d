import { SentencePieceError } from './error.ts'
import { float32, protobufFields, tagOf, utf8, WireType } from './protobuf-reader.ts'

// Message layouts and defaults: sentencepiece_model.proto of the reference library (proto2).

/** `ModelProto.SentencePiece.Type` */
export const PieceKind = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const
export type PieceKind = (typeof PieceKind)[keyof typeof PieceKind]

export interface PieceEntry {
  text: string
  /** Log probability, float32. */
  score: number
  kind: number
}

export interface TrainerSettings {
  modelType: number
  treatWhitespaceAsSuffix: boolean
  byteFallback: boolean
  /** What an unknown piece decodes to. */
  unknownSurface: string
}

export interface NormalizerSettings {
  name: string
  hasCharsmap: boolean
  addDummyPrefix: boolean
  removeExtraWhitespaces: boolean
  escapeWhitespaces: boolean
}

export interface ModelFile {
  pieces: PieceEntry[]
  trainer: TrainerSettings
  normalizer: NormalizerSettings
  denormalizer: NormalizerSettings
}

const ModelTag = {
  piece: tagOf(1, WireType.bytes),
  trainer: tagOf(2, WireType.bytes),
  normalizer: tagOf(3, WireType.bytes),
  denormalizer: tagOf(5, WireType.bytes),
} as const

const PieceTag = {
  text: tagOf(1, WireType.bytes),
  score: tagOf(2, WireType.fixed32),
  kind: tagOf(3, WireType.varint),
} as const

const TrainerTag = {
  modelType: tagOf(3, WireType.varint),
  treatWhitespaceAsSuffix: tagOf(24, WireType.varint),
  byteFallback: tagOf(35, WireType.varint),
  unknownSurface: tagOf(44, WireType.bytes),
} as const

const NormalizerTag = {
  name: tagOf(1, WireType.bytes),
  charsmap: tagOf(2, WireType.bytes),
  addDummyPrefix: tagOf(3, WireType.varint),
  removeExtraWhitespaces: tagOf(4, WireType.varint),
  escapeWhitespaces: tagOf(5, WireType.varint),
} as const

/**
 * Reads a serialized `ModelProto` as it is; whether it makes sense is for `checkSupported` and `Vocabulary`.
 * A message field that occurs twice is merged, as protobuf does, so the settings are filled in place.
 *
 * @throws SentencePieceError `malformed-file`
 */
export const readModelFile = (bytes: Uint8Array): ModelFile => {
  const model: ModelFile = {
    pieces: [],
    trainer: {
      modelType: 1,
      treatWhitespaceAsSuffix: false,
      byteFallback: false,
      unknownSurface: ' \u2047 ',
    },
    normalizer: defaultNormalizer(),
    denormalizer: defaultNormalizer(),
  }
  for (const field of protobufFields(bytes)) {
    switch (field.tag) {
      case ModelTag.piece:
        model.pieces.push(readPiece(field.bytes, model.pieces.length))
        break
      case ModelTag.trainer:
        readTrainer(field.bytes, model.trainer)
        break
      case ModelTag.normalizer:
        readNormalizer(field.bytes, model.normalizer)
        break
      case ModelTag.denormalizer:
        readNormalizer(field.bytes, model.denormalizer)
        break
    }
  }
  return model
}

const defaultNormalizer = (): NormalizerSettings => ({
  name: '',
  hasCharsmap: false,
  addDummyPrefix: true,
  removeExtraWhitespaces: true,
  escapeWhitespaces: true,
})

const readPiece = (bytes: Uint8Array, id: number): PieceEntry => {
  const piece: PieceEntry = { text: '', score: 0, kind: PieceKind.normal }
  for (const field of protobufFields(bytes)) {
    switch (field.tag) {
      case PieceTag.text:
        piece.text = utf8(field.bytes, `The text of piece ${id}`)
        break
      case PieceTag.score:
        piece.score = float32(field.bytes)
        break
      case PieceTag.kind:
        piece.kind = field.varint
        break
    }
  }
  return piece
}

const readTrainer = (bytes: Uint8Array, trainer: TrainerSettings): void => {
  for (const field of protobufFields(bytes)) {
    switch (field.tag) {
      case TrainerTag.modelType:
        trainer.modelType = field.varint
        break
      case TrainerTag.treatWhitespaceAsSuffix:
        trainer.treatWhitespaceAsSuffix = field.varint !== 0
        break
      case TrainerTag.byteFallback:
        trainer.byteFallback = field.varint !== 0
        break
      case TrainerTag.unknownSurface:
        trainer.unknownSurface = utf8(field.bytes, 'The surface of unknown pieces')
        break
    }
  }
}

const readNormalizer = (bytes: Uint8Array, normalizer: NormalizerSettings): void => {
  for (const field of protobufFields(bytes)) {
    switch (field.tag) {
      case NormalizerTag.name:
        normalizer.name = utf8(field.bytes, 'The name of the normalizer')
        break
      case NormalizerTag.charsmap:
        normalizer.hasCharsmap = field.bytes.length > 0
        break
      case NormalizerTag.addDummyPrefix:
        normalizer.addDummyPrefix = field.varint !== 0
        break
      case NormalizerTag.removeExtraWhitespaces:
        normalizer.removeExtraWhitespaces = field.varint !== 0
        break
      case NormalizerTag.escapeWhitespaces:
        normalizer.escapeWhitespaces = field.varint !== 0
        break
    }
  }
}

const modelTypes = new Map([
  [1, 'UNIGRAM'],
  [2, 'BPE'],
  [3, 'WORD'],
  [4, 'CHAR'],
])

/**
 * Refuses what this package would otherwise tokenize wrongly without a word.
 *
 * @throws SentencePieceError `unsupported-model`
 */
export const checkSupported = ({ trainer, normalizer, denormalizer }: ModelFile): void => {
  if (trainer.modelType !== 1) {
    const name = modelTypes.get(trainer.modelType) ?? 'an unknown type'
    throw unsupported(`is of type ${trainer.modelType} (${name})`, 'type 1 (UNIGRAM)')
  }
  if (trainer.treatWhitespaceAsSuffix) {
    throw unsupported('treats white space as a suffix', 'white space as a prefix')
  }
  if (normalizer.hasCharsmap || denormalizer.hasCharsmap) {
    const which = normalizer.hasCharsmap ? `normalizer '${normalizer.name}'` : 'denormalizer'
    throw unsupported(`holds a precompiled charsmap for its ${which}`, 'the identity')
  }
  if (normalizer.name !== '' && normalizer.name !== 'identity') {
    throw unsupported(`asks for the normalizer '${normalizer.name}'`, "'identity'")
  }
}

const unsupported = (found: string, expected: string): SentencePieceError =>
  new SentencePieceError(
    'unsupported-model',
    `The model ${found}; this package implements ${expected} only. Use a unigram model trained with ` +
      '--model_type=unigram --normalization_rule_name=identity.',
  )
