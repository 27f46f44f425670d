import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NoiseSource } from '../../src/noise/noise-source.ts'
import { referenceNoise } from '../../src/noise/normal-noise.ts'
import { scaledNoise } from '../../src/noise/scaled-noise.ts'

const invalidOption = expect.objectContaining({ name: 'PocketTtsError', code: 'invalid-option' })

describe('scaledNoise', () => {
  it('multiplies by √temperature in float32', () => {
    const scale = Math.fround(Math.sqrt(0.3))
    const expected = referenceNoise()
      .next(32)
      .map((value) => value * scale)
    expect(scaledNoise(referenceNoise(), 0.3).next(32)).toEqual(expected)
  })

  it('has the variance asked for', () => {
    const values = scaledNoise(referenceNoise(5), 0.7).next(200_000)
    const variance = values.reduce((sum, value) => sum + value * value, 0) / values.length
    expect(Math.abs(variance / 0.7 - 1)).toBeLessThan(5 * Math.sqrt(2 / values.length))
  })

  it('is silent at temperature 0 and draws all the same', () => {
    const source = referenceNoise()
    expect(
      scaledNoise(source, 0, 1)
        .next(32)
        .every((value) => value === 0),
    ).toBe(true)
    expect(source.next(4)).toEqual(referenceNoise().next(36).slice(32))
  })

  it('leaves the rows of the source as they were', () => {
    const row = Float32Array.of(1, 2)
    scaledNoise({ next: () => row }, 0.25).next(2)
    expect([...row]).toEqual([1, 2])
  })

  it.each([-0.1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a temperature of %s', (temperature) => {
    expect(() => scaledNoise(referenceNoise(), temperature)).toThrow(invalidOption)
  })
})

describe('the clamp', () => {
  it('leaves out the values beyond it and keeps the others in order', () => {
    const clamp = 0.4
    const within = [...scaledNoise(referenceNoise(), 0.3).next(400)].filter((v) => Math.abs(v) <= clamp)
    expect([...scaledNoise(referenceNoise(), 0.3, clamp).next(100)]).toEqual(within.slice(0, 100))
  })

  it('does not depend on how many values are asked for at a time', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.nat(40), { maxLength: 6 }), (seed, lengths) => {
        const noise = scaledNoise(referenceNoise(seed), 1, 0.8)
        const pieces = lengths.flatMap((length) => [...noise.next(length)])
        expect(pieces).toEqual([...scaledNoise(referenceNoise(seed), 1, 0.8).next(pieces.length)])
      }),
    )
  })

  it('changes nothing when it is wide', () => {
    const free = scaledNoise(referenceNoise(), 0.3).next(320)
    expect(scaledNoise(referenceNoise(), 0.3, 10).next(320)).toEqual(free)
  })

  it.each([0, -1, Number.NaN, 1e-9])('of %s is refused', (clamp) => {
    expect(() => scaledNoise(referenceNoise(), 0.3, clamp)).toThrow(invalidOption)
  })

  it('gives up on a source with nothing within it', () => {
    const loud: NoiseSource = { next: (length) => new Float32Array(length).fill(5) }
    expect(() => scaledNoise(loud, 1, 1).next(32)).toThrow(invalidOption)
  })
})

describe('a source of the caller', () => {
  it.each([
    ['too short', () => new Float32Array(31)],
    ['too long', () => new Float32Array(33)],
    ['not finite', () => new Float32Array(32).fill(Number.NaN)],
    ['no row at all', () => undefined as unknown as Float32Array],
  ])('is refused when its row is %s', (_, next) => {
    expect(() => scaledNoise({ next }, 1).next(32)).toThrow(invalidOption)
    expect(() => scaledNoise({ next }, 1, 3).next(32)).toThrow(invalidOption)
  })
})
