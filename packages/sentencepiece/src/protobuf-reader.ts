import { SentencePieceError } from './error.ts'

/** The four wire types in use; the two of proto1 groups were never written by SentencePiece. */
export const WireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const
export type WireType = (typeof WireType)[keyof typeof WireType]

export interface ProtobufField {
  /** Field number and wire type together, as `tagOf` makes it. */
  readonly tag: number
  /** Value of a varint field, exact up to 2^53; 0 for other wire types. */
  readonly varint: number
  /** Payload of a field of any other wire type, a view of the message; empty for a varint. */
  readonly bytes: Uint8Array
}

/**
 * A field whose wire type is not the declared one has another tag, and so falls through a `switch` to
 * the unknown fields, which is what the protobuf specification asks for.
 */
export const tagOf = (fieldNumber: number, wireType: WireType): number => fieldNumber * 8 + wireType

const noBytes = new Uint8Array(0)

/**
 * The fields of one message in file order, unknown ones included: callers skip what they do not know.
 * Allocates views only, never more than the message holds, whatever lengths it announces.
 *
 * @throws SentencePieceError `malformed-file` at the first byte that breaks the wire format
 */
export function* protobufFields(message: Uint8Array): Generator<ProtobufField, void> {
  let position = 0

  const varint = (): number => {
    let value = 0
    // 64 bits in groups of seven: ten bytes at most.
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = message[position++]
      if (byte === undefined) throw malformed('ends inside a number')
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw malformed('holds a number of more than ten bytes')
  }

  const payload = (length: number, tag: number): Uint8Array => {
    const left = message.length - position
    if (length > left) {
      throw malformed(`announces ${length} bytes for field ${tag >>> 3} where ${left} are left`)
    }
    position += length
    return message.subarray(position - length, position)
  }

  while (position < message.length) {
    const tag = varint()
    // Tags are 32-bit numbers and field numbers start at 1.
    if (tag < 8 || tag > 0xffffffff) throw malformed(`holds the field tag ${tag}, which cannot be`)
    switch (tag & 7) {
      case WireType.varint:
        yield { tag, varint: varint(), bytes: noBytes }
        break
      case WireType.fixed64:
        yield { tag, varint: 0, bytes: payload(8, tag) }
        break
      case WireType.bytes:
        yield { tag, varint: 0, bytes: payload(varint(), tag) }
        break
      case WireType.fixed32:
        yield { tag, varint: 0, bytes: payload(4, tag) }
        break
      default:
        throw malformed(`holds a field of wire type ${tag & 7}, where 0, 1, 2 or 5 is expected`)
    }
  }
}

/** A fixed32 payload as an IEEE 754 single. */
export const float32 = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat32(0, true)

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws SentencePieceError `malformed-file` where the payload is not UTF-8 */
export const utf8 = (bytes: Uint8Array, what: string): string => {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new SentencePieceError('malformed-file', `${what} is not UTF-8; expected a SentencePiece model.`, {
      cause,
    })
  }
}

const malformed = (what: string): SentencePieceError =>
  new SentencePieceError(
    'malformed-file',
    `The data ${what}. Expected a whole SentencePiece model (tokenizer.model): ` +
      'check that the download is complete and is not a web page or a Git LFS pointer.',
  )
