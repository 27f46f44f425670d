import { type Operation, operands } from './operation.ts'
import type { Recording } from './recording.ts'
import type { Tensor } from './tensor.ts'

/** Where a plan's tensors lie in one block of float32 values. */
export interface Layout {
  /** Values in all. */
  readonly length: number
  /** First value of a tensor (a view's own first value) and the distance between its rows. */
  place(tensor: Tensor): { offset: number; rowStride: number }
  /** First value of an operation's scratch; only for operations that asked for some. */
  scratch(operation: Operation): number
}

/** 16 values are 64 bytes, a cache line: no two tensors share one, and SIMD loads are aligned. */
const alignment = 16

/**
 * Lays out a recording: inputs and taps keep their place, every other tensor (and the scratch that an executor asks
 * for an operation) reuses the memory of those that nobody will read again. Linear scan, first fit.
 */
export const layOut = (
  recording: Recording,
  scratchLength: (operation: Operation) => number = () => 0,
): Layout => {
  const persistent = new Set<Tensor>([...recording.inputs.values(), ...recording.taps.values()])
  const offsets = new Map<Tensor | Operation, number>()
  const memory = new FirstFit()
  for (const tensor of persistent) offsets.set(tensor, memory.take(tensor.rows * tensor.columns))

  const diesAt = deaths(recording.operations, persistent)
  recording.operations.forEach((operation, index) => {
    const { out } = operation
    if (!persistent.has(out)) offsets.set(out, memory.take(out.rows * out.columns))
    const needed = scratchLength(operation)
    if (needed > 0) {
      const scratch = memory.take(needed)
      offsets.set(operation, scratch)
      memory.release(scratch)
    }
    for (const tensor of diesAt.get(index) ?? []) memory.release(offsets.get(tensor) ?? 0)
  })

  const offsetOf = (key: Tensor | Operation): number => {
    const offset = offsets.get(key)
    if (offset === undefined) throw new Error('a tensor of another recording')
    return offset
  }
  return {
    length: memory.length,
    place: ({ base, rowOffset, columnOffset }) => ({
      offset: offsetOf(base) + rowOffset * base.columns + columnOffset,
      rowStride: base.columns,
    }),
    scratch: offsetOf,
  }
}

/** After which operation each tensor is never read again; one that nobody reads dies where it is made. */
const deaths = (operations: readonly Operation[], persistent: Set<Tensor>): Map<number, Tensor[]> => {
  const lastUse = new Map<Tensor, number>()
  operations.forEach((operation, index) => {
    lastUse.set(operation.out, index)
    for (const operand of operands(operation)) lastUse.set(operand.base, index)
  })
  const diesAt = new Map<number, Tensor[]>()
  for (const [tensor, index] of lastUse) {
    if (persistent.has(tensor)) continue
    const tensors = diesAt.get(index)
    if (tensors) tensors.push(tensor)
    else diesAt.set(index, [tensor])
  }
  return diesAt
}

/** Blocks of one growing range, kept sorted; a new one goes into the first gap that holds it. */
class FirstFit {
  readonly #blocks: { offset: number; length: number }[] = []
  length = 0

  take(length: number): number {
    const rounded = Math.ceil(length / alignment) * alignment
    let offset = 0
    let index = 0
    for (const block of this.#blocks) {
      if (block.offset - offset >= rounded) break
      offset = block.offset + block.length
      index++
    }
    this.#blocks.splice(index, 0, { offset, length: rounded })
    this.length = Math.max(this.length, offset + rounded)
    return offset
  }

  release(offset: number): void {
    const index = this.#blocks.findIndex((block) => block.offset === offset)
    if (index >= 0) this.#blocks.splice(index, 1)
  }
}
