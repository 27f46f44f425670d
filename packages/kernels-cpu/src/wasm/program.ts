import { bytesOf, instruction, kernelCodes, program, writeDescriptor } from './descriptors.ts'
import type { Runtime } from './runtime.ts'

/** What a kernel is to do for an operation. */
export interface Work {
  readonly kernel: keyof typeof kernelCodes
  readonly descriptor: number
  /** What the kernel counts in; any split of them gives the same numbers. */
  readonly units: number
  /** How much there is to do, in multiplications with an addition or what takes as long. */
  readonly load: number
}

/** The most instructions of one operation: a window is filled and remembered, then there is a product. */
const mostInstructions = 3

/** Bytes of a program of so many operations. */
export const programBytes = (operations: number): number =>
  bytesOf(program) + operations * mostInstructions * bytesOf(instruction)

/** Memory that each thread has to itself while it executes an instruction. */
export interface Scratch {
  readonly address: number
  /** From thread to thread. */
  readonly stride: number
}

/** Writes a program at `address`, cut for the runtime's threads. */
export const writeProgram = (
  runtime: Runtime,
  address: number,
  works: readonly Work[],
  scratch: Scratch,
): void => {
  const instructions = address + bytesOf(program)
  let end = instructions
  for (const { kernel, descriptor, units, load } of works) {
    end = writeDescriptor(runtime, end, instruction, {
      kernel: kernelCodes[kernel],
      descriptor,
      units,
      pieces: piecesOf(units, load, runtime.threads),
    })
  }
  writeDescriptor(runtime, address, program, {
    instructions,
    end,
    scratch: scratch.address,
    scratchStride: scratch.stride,
  })
}

/** Pieces for each thread, at least: whoever is slow, or busy with other things, takes fewer of them. */
const piecesPerThread = 4

/** About two microseconds: a piece should take far longer than to hand it out, which takes a fraction of one. */
const leastLoad = 1 << 15

/** About fifty microseconds: whoever is done waits for as long at most. */
const mostLoad = 1 << 19

/** What fits into a ticket's 16 bits: `ticket` of assembly/crew.ts. */
const mostPieces = 0xffff

export const piecesOf = (units: number, load: number, threads: number): number => {
  if (threads === 1) return 1
  const wanted = Math.max(piecesPerThread * threads, Math.ceil(load / mostLoad))
  return Math.max(1, Math.min(units, wanted, mostPieces, Math.floor(load / leastLoad)))
}

/** Rows that are worth the weights of a panel of their own in a product, which are read, or widened, for each part. */
const leastRows = 32

/**
 * Rows of one unit of work over `rows` rows, whole tiles of them: all, unless the work consists of too few parts
 * (panels or heads) to share it well, or one is too much. `load` is that of all parts.
 */
export const unitRowsOf = (rows: number, parts: number, load: number, threads: number): number => {
  if (threads === 1) return rows
  const wanted = Math.max(piecesPerThread * threads, Math.ceil(load / mostLoad))
  const cuts = Math.min(Math.ceil(wanted / parts), Math.floor(rows / leastRows))
  return cuts <= 1 ? rows : Math.ceil(rows / cuts / wholeTiles) * wholeTiles
}

/** Tiles of the products in assembly/ have two, three, four or six rows. */
const wholeTiles = 12
