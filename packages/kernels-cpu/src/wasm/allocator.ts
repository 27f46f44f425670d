/** Every block begins on a cache line. */
export const alignment = 64

interface Block {
  offset: number
  length: number
}

/**
 * Hands out blocks of one range that can grow at its end. First fit: the first gap that holds a block takes it;
 * neighbouring gaps are merged as blocks come back. Knows numbers only, not the memory they stand for.
 */
export class FirstFitAllocator {
  /** Gaps in order of their offsets; no two touch. */
  readonly #gaps: Block[] = []
  readonly #lengths = new Map<number, number>()
  #end: number

  constructor(begin: number, end: number) {
    const first = roundUp(begin)
    this.#end = Math.max(first, end)
    if (end > first) this.#gaps.push({ offset: first, length: end - first })
  }

  /** Bytes in blocks that are handed out. */
  get used(): number {
    let total = 0
    for (const length of this.#lengths.values()) total += length
    return total
  }

  /** The offset of a block of at least `length` bytes, or undefined where no gap holds it. */
  allocate(length: number): number | undefined {
    const rounded = roundUp(Math.max(length, 1))
    const index = this.#gaps.findIndex((gap) => gap.length >= rounded)
    const gap = this.#gaps[index]
    if (!gap) return undefined
    const { offset } = gap
    gap.offset += rounded
    gap.length -= rounded
    if (gap.length === 0) this.#gaps.splice(index, 1)
    this.#lengths.set(offset, rounded)
    return offset
  }

  /** Takes back the block at `offset`. An offset that is no block's is refused. */
  free(offset: number): void {
    const length = this.#lengths.get(offset)
    if (length === undefined) throw new RangeError(`no block at ${offset}`)
    this.#lengths.delete(offset)
    this.#insertGap(offset, length)
  }

  /** Where the range must end for `allocate(length)` to succeed: a gap at the end is used. */
  endFor(length: number): number {
    const last = this.#gaps.at(-1)
    const begin = last && last.offset + last.length === this.#end ? last.offset : roundUp(this.#end)
    return begin + roundUp(Math.max(length, 1))
  }

  /** The range now ends at `end`. */
  extend(end: number): void {
    if (end <= this.#end) return
    const begin = this.#end
    this.#end = end
    this.#insertGap(begin, end - begin)
  }

  #insertGap(offset: number, length: number): void {
    let index = this.#gaps.findIndex((gap) => gap.offset > offset)
    if (index < 0) index = this.#gaps.length
    const gap = { offset, length }
    const after = this.#gaps[index]
    if (after && offset + length === after.offset) {
      gap.length += after.length
      this.#gaps.splice(index, 1)
    }
    const before = this.#gaps[index - 1]
    if (before && before.offset + before.length === offset) before.length += gap.length
    else this.#gaps.splice(index, 0, gap)
  }
}

const roundUp = (length: number): number => Math.ceil(length / alignment) * alignment
