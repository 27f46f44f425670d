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

/** Pieces for each thread: whoever is slow, or busy with other things, takes fewer of them. */
const piecesPerThread = 4

/** About two microseconds: a piece should take far longer than to hand it out, which takes a fraction of one. */
const leastLoad = 32768

export const piecesOf = (units: number, load: number, threads: number): number =>
  threads === 1 ? 1 : Math.max(1, Math.min(units, piecesPerThread * threads, Math.floor(load / leastLoad)))

/** Rows that are worth a block of weights of their own in a product, which is copied for each part of them. */
const leastRows = 32

/** Rows of one unit of a product of `rows` rows: all, unless there are too few panels to share. */
export const unitRowsOf = (rows: number, panels: number, threads: number): number => {
  if (threads === 1) return rows
  const parts = Math.min(Math.ceil((piecesPerThread * threads) / panels), Math.floor(rows / leastRows))
  return parts <= 1 ? rows : Math.ceil(rows / parts / tileRows) * tileRows
}

/** `tileRows` of assembly/tile-product.ts. */
export const tileRows = 4
