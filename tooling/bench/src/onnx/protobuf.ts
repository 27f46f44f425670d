/**
 * As much of the protocol buffers' wire format as an ONNX file needs. A message is a list of pieces, put together once
 * at the end: weights of hundreds of megabytes are not copied at each level.
 */
export type Message = readonly Uint8Array[]

const utf8 = new TextEncoder()

const varint = (value: number): number[] => {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

const wireTypes = { varint: 0, bytes: 2 }

/** Field `field`, a whole number from 0. */
export const integerField = (field: number, value: number): Message => [
  Uint8Array.from([...varint(field * 8 + wireTypes.varint), ...varint(value)]),
]

/** Field `field`, a message. */
export const messageField = (field: number, ...parts: Message[]): Message => {
  const pieces = parts.flat()
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return [Uint8Array.from([...varint(field * 8 + wireTypes.bytes), ...varint(length)]), ...pieces]
}

/** Field `field`, bytes, or text. */
export const bytesField = (field: number, value: Uint8Array | string): Message =>
  messageField(field, [typeof value === 'string' ? utf8.encode(value) : value])

/** The message's bytes. */
export const joined = (message: Message): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(message.reduce((sum, piece) => sum + piece.length, 0))
  let offset = 0
  for (const piece of message) {
    bytes.set(piece, offset)
    offset += piece.length
  }
  return bytes
}
