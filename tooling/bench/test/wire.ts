/** Reads protocol buffers, field by field: varints as numbers, everything else as bytes. */
export type Fields = Map<number, (number | Uint8Array)[]>

export const parse = (bytes: Uint8Array): Fields => {
  const fields: Fields = new Map()
  let at = 0
  const varint = (): number => {
    let value = 0
    let factor = 1
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the message ends in a number')
      value += (byte & 127) * factor
      if (byte < 128) return value
      factor *= 128
    }
  }
  while (at < bytes.length) {
    const key = varint()
    const field = Math.floor(key / 8)
    const values = fields.get(field) ?? []
    fields.set(field, values)
    if (key % 8 === 0) values.push(varint())
    else if (key % 8 === 2) {
      const length = varint()
      if (at + length > bytes.length) throw new Error('a field ends after its message')
      values.push(bytes.subarray(at, at + length))
      at += length
    } else throw new Error(`wire type ${key % 8}`)
  }
  return fields
}

export const messages = (fields: Fields, field: number): Fields[] => all(fields, field).map(parse)

export const texts = (fields: Fields, field: number): string[] =>
  all(fields, field).map((bytes) => new TextDecoder().decode(bytes))

export const numbers = (fields: Fields, field: number): number[] =>
  (fields.get(field) ?? []).filter((value) => typeof value === 'number')

const all = (fields: Fields, field: number): Uint8Array[] =>
  (fields.get(field) ?? []).filter((value) => value instanceof Uint8Array)
