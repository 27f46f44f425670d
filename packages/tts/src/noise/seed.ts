import { PocketTtsError } from '../errors.ts'

/** An integer, 0 ≤ seed < 2⁶⁴. Numbers beyond 2⁵³ are taken as the integer that the number exactly is. */
export type Seed = number | bigint

/** The seed when the caller gives none: equal calls give equal speech. */
export const DEFAULT_SEED = 0x5eedc0ffee01

/** 2⁶⁴ / golden ratio, the increment of SplitMix64 (Steele, Lea, Flood 2014). */
const GOLDEN_GAMMA = 0x9e3779b97f4a7c15n

/** @throws PocketTtsError `invalid-option` unless the seed is an integer, 0 ≤ seed < 2⁶⁴ */
const seedBits = (seed: Seed): bigint => {
  const isInteger = typeof seed === 'bigint' || Number.isInteger(seed)
  const bits = isInteger ? BigInt(seed) : -1n
  if (bits < 0n || bits >= 1n << 64n) {
    throw new PocketTtsError(
      'invalid-option',
      `seed is ${String(seed)}; it must be an integer from 0 to 18446744073709551615`,
    )
  }
  return bits
}

/** One stream through all chunks of an utterance. Setting the lowest bit keeps the state from being 0. */
export const referenceState = (seed: Seed): bigint => seedBits(seed) | 1n

/**
 * A stream of its own for every chunk, so that chunks may be made in any order, in a batch, or on other
 * machines. Hashing also parts neighbouring seeds, which start xorshift64 on nearly equal outputs.
 *
 * @param chunk 0 for the first chunk
 * @param retry 0 for the first attempt at the chunk
 */
export const chunkState = (seed: Seed, chunk: number, retry = 0): bigint => {
  let state = splitMix64(seedBits(seed), chunk)
  if (retry > 0) state = splitMix64(state, retry - 1)
  return state | 1n
}

/** Output number `index` (from 0) of the generator SplitMix64 seeded with `seed`. */
export const splitMix64 = (seed: bigint, index: number): bigint => {
  let bits = wrap(seed + (BigInt(index) + 1n) * GOLDEN_GAMMA)
  bits = wrap((bits ^ (bits >> 30n)) * 0xbf58476d1ce4e5b9n)
  bits = wrap((bits ^ (bits >> 27n)) * 0x94d049bb133111ebn)
  return bits ^ (bits >> 31n)
}

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value)
