/** Writes model files for tests, sharing no line with the reader. */

export interface TestPiece {
  text: string
  score?: number
  /** Number of `ModelProto.SentencePiece.Type`; 1, normal, where left out. */
  kind?: number
}

export interface TestModel {
  pieces: TestPiece[]
  modelType?: number
  byteFallback?: boolean
  unknownSurface?: string
  normalizerName?: string
  addDummyPrefix?: boolean
  removeExtraWhitespaces?: boolean
  escapeWhitespaces?: boolean
  denormalizerCharsmap?: Uint8Array
}

export const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]

export const varintField = (field: number, value: number): number[] => [
  ...varint(field * 8),
  ...varint(value),
]

export const bytesField = (field: number, bytes: Iterable<number>): number[] => {
  const payload = [...bytes]
  return varint(field * 8 + 2).concat(varint(payload.length), payload)
}

export const textField = (field: number, text: string): number[] =>
  bytesField(field, new TextEncoder().encode(text))

export const floatField = (field: number, value: number): number[] => [
  ...varint(field * 8 + 5),
  ...new Uint8Array(new Float32Array([value]).buffer),
]

const optional = <T>(value: T | undefined, write: (value: T) => number[]): number[] =>
  value === undefined ? [] : write(value)

export const writePiece = ({ text, score = 0, kind = 1 }: TestPiece): number[] =>
  bytesField(1, [...textField(1, text), ...floatField(2, score), ...varintField(3, kind)])

export const writeModel = (model: TestModel): Uint8Array => {
  const flag = (field: number) => (value: boolean) => varintField(field, Number(value))
  const trainer = [
    ...optional(model.modelType, (type) => varintField(3, type)),
    ...optional(model.byteFallback, flag(35)),
    ...optional(model.unknownSurface, (surface) => textField(44, surface)),
  ]
  const normalizer = [
    ...optional(model.normalizerName, (name) => textField(1, name)),
    ...optional(model.addDummyPrefix, flag(3)),
    ...optional(model.removeExtraWhitespaces, flag(4)),
    ...optional(model.escapeWhitespaces, flag(5)),
  ]
  const parts = model.pieces.map(writePiece)
  parts.push(bytesField(2, trainer), bytesField(3, normalizer))
  if (model.denormalizerCharsmap) parts.push(bytesField(5, bytesField(2, model.denormalizerCharsmap)))
  return concatenate(parts)
}

export const concatenate = (parts: ArrayLike<number>[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let position = 0
  for (const part of parts) {
    bytes.set(part, position)
    position += part.length
  }
  return bytes
}

/** The 256 pieces of byte fallback, `<0x00>` to `<0xFF>`. */
export const bytePieces = (): TestPiece[] =>
  Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    kind: 6,
  }))

export const unknownPiece: TestPiece = { text: '<unk>', kind: 2 }
