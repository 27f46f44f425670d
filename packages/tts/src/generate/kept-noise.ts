import type { NoiseSource } from '../noise/noise-source.ts'
import type { NoiseRows } from './frame-source.ts'

type Draw = { readonly row: Float32Array } | { readonly error: unknown }

/**
 * The noise of an utterance, row by row. A source that runs ahead draws rows that its chunk turns out not to need:
 * they are kept for the next chunk, which so gets the rows that it gets from a source that does not. Rows that cannot
 * be drawn are an error once a step needs them, not before.
 */
export class KeptNoise implements NoiseRows {
  readonly #source: NoiseSource
  readonly #length: number
  /** From the first row of this chunk on. */
  readonly #draws: Draw[] = []
  #given = 0
  #taken = 0

  /** @param length values of a row */
  constructor(source: NoiseSource, length: number) {
    this.#source = source
    this.#length = length
  }

  /** For the source: the row of the next step. Zeros where there is none to be had; nobody will hear that step. */
  next(): Float32Array {
    const draw = this.#draw(this.#given++)
    return 'row' in draw ? draw.row : new Float32Array(this.#length)
  }

  /** For the driver: counts one more step of this chunk. Throws what drawing its row threw. */
  take(): void {
    const draw = this.#draw(this.#taken++)
    if ('error' in draw) throw draw.error
  }

  /** The next chunk begins behind the steps that were counted. */
  endChunk(): void {
    this.#draws.splice(0, this.#taken)
    this.#taken = 0
    this.#given = 0
  }

  #draw(index: number): Draw {
    while (this.#draws.length <= index) this.#draws.push(this.#drawNext())
    return this.#draws[index]!
  }

  /** A source that has failed is not asked again. */
  #drawNext(): Draw {
    const last = this.#draws.at(-1)
    if (last && 'error' in last) return last
    try {
      return { row: this.#source.next(this.#length) }
    } catch (error) {
      return { error }
    }
  }
}
