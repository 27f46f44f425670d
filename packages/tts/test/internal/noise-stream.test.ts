import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PocketTtsError } from '../../src/errors.ts'
import { chunkNoise, referenceNoise } from '../../src/noise/normal-noise.ts'
import { chunkState, DEFAULT_SEED, splitMix64 } from '../../src/noise/seed.ts'
import { Xorshift64 } from '../../src/noise/xorshift64.ts'

const anySeed = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })
const edgeSeeds = [0n, 1n, 2n, 1n << 31n, 1n << 32n, 1n << 63n, (1n << 64n) - 1n]

/** The generator as its definition has it, in 64-bit integers. */
const xorshift64 = (state: bigint, count: number): bigint[] => {
  const outputs: bigint[] = []
  let x = state
  for (let i = 0; i < count; i++) {
    x ^= BigInt.asUintN(64, x << 13n)
    x ^= x >> 7n
    x ^= BigInt.asUintN(64, x << 17n)
    outputs.push(x)
  }
  return outputs
}

/** Mean of the powers 1 to 4 of the values. */
const moments = (values: Float32Array): number[] =>
  [1, 2, 3, 4].map((power) => values.reduce((sum, value) => sum + value ** power, 0) / values.length)

describe('Xorshift64', () => {
  it('gives the top 53 bits of the 64-bit definition', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        const generator = new Xorshift64(seed | 1n)
        const uniforms = Array.from({ length: 20 }, () => generator.uniform())
        expect(uniforms).toEqual(xorshift64(seed | 1n, 20).map((x) => Number(x >> 11n) / 2 ** 53))
      }),
      { examples: edgeSeeds.map((seed) => [seed]) },
    )
  })
})

describe('splitMix64', () => {
  it('gives the published outputs for the seed 1234567', () => {
    const outputs = [0, 1, 2, 3, 4].map((index) => splitMix64(1234567n, index))
    expect(outputs).toEqual([
      6457827717110365317n,
      3203168211198807973n,
      9817491932198370423n,
      4593380528125082431n,
      16408922859458223821n,
    ])
  })
})

describe('referenceNoise', () => {
  it('starts as the contract says', () => {
    const first = [...referenceNoise().next(4)].map((value) => value.toFixed(7))
    expect(first).toEqual(['0.7918251', '-0.3192492', '-1.1447343', '0.3750133'])
  })

  it('takes the default seed when none is given', () => {
    expect(referenceNoise().next(32)).toEqual(referenceNoise(DEFAULT_SEED).next(32))
    expect(referenceNoise(1).next(32)).not.toEqual(referenceNoise(DEFAULT_SEED).next(32))
  })

  it('does not depend on how many values are asked for at a time', () => {
    fc.assert(
      fc.property(anySeed, fc.array(fc.nat(40), { maxLength: 6 }), (seed, lengths) => {
        const noise = referenceNoise(seed)
        const pieces = lengths.flatMap((length) => [...noise.next(length)])
        expect(pieces).toEqual([...referenceNoise(seed).next(pieces.length)])
      }),
    )
  })

  it('has the moments of the unit normal', () => {
    const [mean, variance, third, fourth] = moments(referenceNoise(42).next(1_000_000))
    // Five standard errors of each: √(1, 2, 15, 96) / 1000.
    expect(Math.abs(mean!)).toBeLessThan(0.005)
    expect(Math.abs(variance! - 1)).toBeLessThan(0.0071)
    expect(Math.abs(third!)).toBeLessThan(0.0194)
    expect(Math.abs(fourth! - 3)).toBeLessThan(0.049)
  })
})

describe('chunkNoise', () => {
  it('is the same for the same chunk, whatever was drawn for others', () => {
    const third = chunkNoise(7, 2).next(32)
    chunkNoise(7, 0).next(1000)
    expect(chunkNoise(7, 2).next(32)).toEqual(third)
  })

  it('parts chunks, retries and neighbouring seeds', () => {
    const states = [0, 1, 2, 3].flatMap((seed) =>
      [0, 1, 2, 3].flatMap((chunk) => [0, 1, 2, 3].map((retry) => chunkState(seed, chunk, retry))),
    )
    expect(new Set(states).size).toBe(4 ** 3)
  })

  it('has the moments of the unit normal across small seeds', () => {
    const firsts = Float32Array.from({ length: 40_000 }, (_, seed) => chunkNoise(seed, 0).next(1)[0]!)
    const [mean, variance] = moments(firsts)
    expect(Math.abs(mean!)).toBeLessThan(5 / 200)
    expect(Math.abs(variance! - 1)).toBeLessThan((5 * Math.SQRT2) / 200)
  })
})

describe.each([
  ['referenceNoise', referenceNoise],
  ['chunkNoise', (seed: number | bigint) => chunkNoise(seed, 3)],
])('seeds of %s', (_, noise) => {
  it('are the same as number and as bigint', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (seed) => {
        expect(noise(seed).next(8)).toEqual(noise(BigInt(seed)).next(8))
      }),
    )
    expect(noise(2 ** 60).next(8)).toEqual(noise(1n << 60n).next(8))
  })

  it('may be any 64 bits', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        expect(noise(seed).next(64).every(Number.isFinite)).toBe(true)
      }),
      { examples: edgeSeeds.map((seed) => [seed]) },
    )
  })

  it.each([-1, -1n, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 64, 1n << 64n, '7' as unknown as number])(
    'refuse %s',
    (seed) => {
      expect(() => noise(seed)).toThrow(PocketTtsError)
      expect(() => noise(seed)).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    },
  )
})
