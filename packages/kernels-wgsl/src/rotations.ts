import { fillRotations, rotaryFrequencies } from '@pocket/nn'

/** Positions kept; beyond them angles are computed anew in each run. 82 s of the codec's positions, 4 MB. */
const mostKept = 1 << 14

const block = 256

/** Cosines and sines of a rotary embedding, made once on the host: WGSL's are far too coarse. */
export class Rotations {
  readonly #headDim: number
  readonly #frequencies: Float32Array
  readonly #blocks: (Float32Array | undefined)[] = []

  constructor(headDim: number, maxPeriod: number) {
    this.#headDim = headDim
    this.#frequencies = rotaryFrequencies(headDim, maxPeriod)
  }

  /** Fills `out` `[count, headDim]` for the positions from `first`. */
  fill(out: Float32Array, first: number, count: number): void {
    if (first + count > mostKept) {
      fillRotations(out, this.#frequencies, first, count)
      return
    }
    const width = this.#headDim
    for (let done = 0; done < count; ) {
      const position = first + done
      const within = position % block
      const some = Math.min(block - within, count - done)
      out.set(
        this.#block((position - within) / block).subarray(within * width, (within + some) * width),
        done * width,
      )
      done += some
    }
  }

  #block(index: number): Float32Array {
    let values = this.#blocks[index]
    if (!values) {
      values = new Float32Array(block * this.#headDim)
      fillRotations(values, this.#frequencies, index * block, block)
      this.#blocks[index] = values
    }
    return values
  }
}

const kept = new Map<string, Rotations>()

/** One table for each embedding in use. */
export const rotationsOf = (headDim: number, maxPeriod: number): Rotations => {
  const key = `${headDim} ${maxPeriod}`
  let rotations = kept.get(key)
  if (!rotations) {
    rotations = new Rotations(headDim, maxPeriod)
    kept.set(key, rotations)
  }
  return rotations
}
