import { execute, Instruction } from './execute'

/** A plan: instructions to be executed in order, and memory that they need on the way. */
@unmanaged
export class Program {
  /** The first instruction; the others follow. */
  instructions: usize
  end: usize
  /** Scratch of the first thread, in bytes `scratchStride` before that of the second, and so on. */
  scratch: usize
  scratchStride: usize
}

export function run(program: Program): void {
  for (let at = program.instructions; at < program.end; at += offsetof<Instruction>()) {
    const instruction = changetype<Instruction>(at)
    for (let piece = 0; piece < instruction.pieces; piece++) execute(instruction, piece, program.scratch)
  }
}
