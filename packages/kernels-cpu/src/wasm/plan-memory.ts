import { type Layout, layOut, type Operation, type Recording } from '@pocket/nn'
import { alignment } from './allocator.ts'
import { needsOf } from './compile.ts'
import { descriptorBytes } from './descriptors.ts'
import { programBytes } from './program.ts'

/** Where the parts of a plan lie in its one block, in bytes from the block's address. */
export interface PlanMemory {
  /** Tensors, and what an operation needs while it runs, from the beginning of the block. */
  readonly layout: Layout
  /** For the descriptors of each operation. */
  readonly descriptors: number
  /** For each operation's table. */
  readonly tables: readonly number[]
  readonly program: number
  /** Scratch of the first thread, and the distance to that of the next. */
  readonly scratch: number
  readonly scratchStride: number
  readonly bytes: number
}

export const layOutPlan = (recording: Recording, threads: number): PlanMemory => {
  const { operations } = recording
  const layout = layOut(recording, (operation) => needsOf(operation).shared ?? 0)
  let bytes = 0
  const take = (length: number): number => {
    const offset = bytes
    bytes = Math.ceil((bytes + length) / alignment) * alignment
    return offset
  }
  take(layout.length * 4)
  const descriptors = take(operations.length * descriptorBytes)
  const tables = operations.map((operation) => take((needsOf(operation).table ?? 0) * 4))
  const program = take(programBytes(operations.length))
  const scratchStride = mostScratch(operations)
  const scratch = take(threads * scratchStride)
  return { layout, descriptors, tables, program, scratch, scratchStride, bytes }
}

/** Threads share no cache line. */
const mostScratch = (operations: readonly Operation[]): number => {
  const most = operations.reduce((most, operation) => Math.max(most, needsOf(operation).scratch ?? 0), 0)
  return Math.ceil((most * 4) / alignment) * alignment
}
