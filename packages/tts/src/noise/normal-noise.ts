import type { NoiseSource } from './noise-source.ts'
import { chunkState, DEFAULT_SEED, referenceState, type Seed } from './seed.ts'
import { Xorshift64 } from './xorshift64.ts'

/** Keeps the logarithm finite; bounds a value to ±7.44. */
const SMALLEST_UNIFORM = 1e-12

/** Unit normals from xorshift64 by Box–Muller: two uniforms a value, the cosine branch only. */
class NormalNoise implements NoiseSource {
  readonly #generator: Xorshift64

  constructor(state: bigint) {
    this.#generator = new Xorshift64(state)
  }

  next(length: number): Float32Array {
    const values = new Float32Array(length)
    for (let i = 0; i < length; i++) values[i] = this.#normal()
    return values
  }

  #normal(): number {
    const radius = Math.max(this.#generator.uniform(), SMALLEST_UNIFORM)
    const angle = this.#generator.uniform()
    return Math.sqrt(-2 * Math.log(radius)) * Math.cos(2 * Math.PI * angle)
  }
}

/**
 * The noise of the profile `'reference'`: one stream through all chunks of an utterance.
 * @throws PocketTtsError `invalid-option` unless the seed is an integer, 0 ≤ seed < 2⁶⁴
 */
export const referenceNoise = (seed: Seed = DEFAULT_SEED): NoiseSource =>
  new NormalNoise(referenceState(seed))

/**
 * The noise of one chunk in the profile `'natural'`: independent of every other chunk's.
 * @param chunk 0 for the first chunk
 * @param retry 0 for the first attempt at the chunk
 * @throws PocketTtsError `invalid-option` unless the seed is an integer, 0 ≤ seed < 2⁶⁴
 */
export const chunkNoise = (seed: Seed, chunk: number, retry = 0): NoiseSource =>
  new NormalNoise(chunkState(seed, chunk, retry))
