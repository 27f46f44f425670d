/** How the sums of a product are cut: `taps` of `inputs` terms each, the inputs of which lie `tapStride` bytes apart. */
export interface Taps {
  readonly taps: number
  readonly inputs: number
  readonly tapStride: number
}

/**
 * Terms that are summed in one go. In float32, 4096 would be off by 1.2e-6 (relative L2, random weights), eight times
 * 512 are by 4e-7; and so many weights of a panel are 16 kB in float32, half of the smallest nearest cache there is.
 */
const most = 512

/** For `inputs` inputs in one piece: the fewest taps of at most 512 that divide them, or one where none do. */
export const contiguousTaps = (inputs: number): Taps => {
  const fewest = Math.ceil(inputs / most)
  for (let taps = fewest; taps <= 2 * fewest; taps++) {
    if (inputs % taps === 0) return { taps, inputs: inputs / taps, tapStride: (inputs / taps) * 4 }
  }
  return { taps: 1, inputs, tapStride: inputs * 4 }
}
