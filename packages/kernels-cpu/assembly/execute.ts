import { append, attend, Attention } from './attention'
import { remember, slide, upsample, Upsampling, Window } from './convolution'
import { activate, Elementwise } from './elementwise'
import { Norm, normalize } from './normalize'
import { multiply, Product } from './product'
import { Quantization, quantize } from './quantize'

/** What an instruction does; the order of src/wasm/descriptors.ts. */
export namespace Kernel {
  export const multiply = 0
  export const normalize = 1
  export const activate = 2
  export const slide = 3
  export const remember = 4
  export const upsample = 5
  export const append = 6
  export const attend = 7
  export const quantize = 8
}

/** One kernel and what it works on. */
@unmanaged
export class Instruction {
  kernel: i32
  descriptor: usize
  /** What the kernel counts in: panels, heads, rows. Any split of them gives the same numbers. */
  units: i32
  /** Pieces that the units are handed out in, 1 to `units`. */
  pieces: i32
}

/** Executes one piece. `scratch` belongs to the calling thread. */
export function execute(instruction: Instruction, piece: i32, scratch: usize): void {
  const pieces = instruction.pieces
  const first = <i32>((<i64>instruction.units * piece) / pieces)
  const units = <i32>((<i64>instruction.units * (piece + 1)) / pieces) - first
  const kernel = instruction.kernel
  const at = instruction.descriptor
  if (kernel == Kernel.multiply) multiply(changetype<Product>(at), first, units, scratch)
  else if (kernel == Kernel.normalize) normalize(changetype<Norm>(at), first, units)
  else if (kernel == Kernel.activate) activate(changetype<Elementwise>(at), first, units)
  else if (kernel == Kernel.slide) slide(changetype<Window>(at), first, units, scratch)
  else if (kernel == Kernel.remember) remember(changetype<Window>(at))
  else if (kernel == Kernel.upsample) upsample(changetype<Upsampling>(at), first, units)
  else if (kernel == Kernel.append) append(changetype<Attention>(at), first, units)
  else if (kernel == Kernel.quantize) quantize(changetype<Quantization>(at), first, units)
  else attend(changetype<Attention>(at), first, units, scratch)
}
