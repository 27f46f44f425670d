import { type StoredWeight, widenedWeight } from '@pocket/nn'
import { FlowLmError } from './errors.ts'

/**
 * The token embeddings, kept on the host in the form they are stored in: a prompt needs a few dozen of the rows,
 * once, and no executor has to hold the table.
 */
export class EmbeddingTable {
  readonly #row: (id: number) => Float32Array
  readonly #vocabularySize: number
  readonly #width: number

  /** `weight` is `[vocabularySize + 1, width]`; the last row pads and belongs to no token. */
  constructor(weight: StoredWeight, vocabularySize: number, width: number) {
    this.#row = rowReader(weight, width)
    this.#vocabularySize = vocabularySize
    this.#width = width
  }

  /** The tokens' rows, `[ids.length, width]`. Throws FlowLmError `token`. */
  gather(ids: ArrayLike<number>): Float32Array {
    const known = Array.from(ids, (id, index) => this.#check(id, index))
    const rows = new Float32Array(known.length * this.#width)
    known.forEach((id, index) => {
      rows.set(this.#row(id), index * this.#width)
    })
    return rows
  }

  #check(id: number, index: number): number {
    if (Number.isInteger(id) && id >= 0 && id < this.#vocabularySize) return id
    throw new FlowLmError(
      'token',
      `token ${index} is ${id}, expected a whole number from 0 to ${this.#vocabularySize - 1}: is the tokenizer ` +
        "this model's?",
    )
  }
}

const rowReader = ({ dtype, bytes }: StoredWeight, width: number): ((id: number) => Float32Array) => {
  // A copy where the bytes are part of a larger buffer: a view would keep a whole checkpoint file in memory.
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
  if (dtype === 'F32') {
    const values = new Float32Array(own.buffer)
    return (id) => values.subarray(id * width, (id + 1) * width)
  }
  return (id) => widenedWeight({ dtype, bytes: own.subarray(2 * id * width, 2 * (id + 1) * width) })
}
