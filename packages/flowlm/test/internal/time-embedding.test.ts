import { relativeL2 } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { embedTimestep, rmsNorm, sinusoids } from '../../src/time-embedding.ts'
import { Goldens, range } from '../models.ts'

const goldens = new Goldens('tiny/unit.safetensors')
const tolerance = 1e-6

describe('timestep embedding', () => {
  const embedder = {
    frequencies: goldens.data('time.freqs'),
    first: { weight: goldens.data('time.mlp.0.weight'), bias: goldens.data('time.mlp.0.bias') },
    second: { weight: goldens.data('time.mlp.2.weight'), bias: goldens.data('time.mlp.2.bias') },
    alpha: goldens.data('time.mlp.3.alpha'),
  }
  const times = [...goldens.data('time.t')]

  it.each(times.map((time, row) => ({ time, row })))('of $time: cosines, then sines', ({ time, row }) => {
    expect(
      relativeL2(sinusoids(embedder.frequencies, time), goldens.row('time.embedding', row)),
    ).toBeLessThan(tolerance)
  })

  it.each(times.map((time, row) => ({ time, row })))('of $time: the whole embedder', ({ time, row }) => {
    expect(relativeL2(embedTimestep(embedder, time), goldens.row('time.y', row))).toBeLessThan(tolerance)
  })
})

describe('RMSNorm', () => {
  const alpha = goldens.data('rms.alpha')

  it.each(range(0, 4))('divides row %i by its unbiased deviation', (row) => {
    const x = Float64Array.from(goldens.row('rms.x', row))
    expect(relativeL2(rmsNorm(x, alpha), goldens.row('rms.y', row))).toBeLessThan(tolerance)
  })

  it('keeps the mean: adding a constant adds as much, scaled', () => {
    const values = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 2, maxLength: 64 })
    const ones = new Float32Array(64).fill(1)
    fc.assert(
      fc.property(values, fc.double({ min: -10, max: 10, noNaN: true }), (x, shift) => {
        const plain = rmsNorm(Float64Array.from(x), ones)
        const shifted = rmsNorm(
          Float64Array.from(x, (value) => value + shift),
          ones,
        )
        const differences = shifted.map((value, i) => value - (plain[i] ?? Number.NaN))
        const [first = Number.NaN] = differences
        for (const difference of differences) expect(difference).toBeCloseTo(first, 6)
      }),
    )
  })
})
