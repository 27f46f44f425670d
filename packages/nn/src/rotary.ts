/**
 * Rotary position embedding, in the float32 steps of the reference: its frequencies and angles are rounded at each
 * step, and at position 5000 exact angles are already 4e-5 away from them.
 */

/** Angle step per position of each interleaved pair: `[headDim / 2]`. */
export const rotaryFrequencies = (headDim: number, maxPeriod: number): Float32Array => {
  const exponent = Math.fround((-Math.log(maxPeriod) * 2) / headDim)
  return Float32Array.from({ length: headDim / 2 }, (_, pair) => Math.exp(Math.fround(pair * exponent)))
}

/** Fills `out` `[positions, headDim / 2, 2]` with cosine and sine of each pair, for positions from `first`. */
export const fillRotations = (
  out: Float32Array,
  frequencies: Float32Array,
  first: number,
  positions: number,
): void => {
  let index = 0
  for (let position = first; position < first + positions; position++) {
    for (const frequency of frequencies) {
      const angle = Math.fround(frequency * position)
      out[index++] = Math.cos(angle)
      out[index++] = Math.sin(angle)
    }
  }
}
