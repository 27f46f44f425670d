import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { median, quantile, relativeSpread, wallPerCpu } from '../src/statistics.ts'

const values = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 50 })

describe('median', () => {
  it.each([
    [[3], 3],
    [[5, 1, 3], 3],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 100], 10],
  ])('of %j is %d', (numbers, expected) => {
    expect(median(numbers)).toBe(expected)
  })

  it('of nothing is NaN', () => {
    expect(median([])).toBeNaN()
  })

  it('leaves as many below as above, and the numbers as they are', () => {
    fc.assert(
      fc.property(values, (numbers) => {
        const before = [...numbers]
        const middle = median(numbers)
        const half = numbers.length / 2
        expect(numbers.filter((value) => value < middle).length).toBeLessThanOrEqual(half)
        expect(numbers.filter((value) => value > middle).length).toBeLessThanOrEqual(half)
        expect(numbers).toEqual(before)
      }),
    )
  })
})

describe('quantile', () => {
  it.each([
    [0, 10],
    [0.25, 20],
    [0.375, 25],
    [1, 50],
  ])('%d of 10 to 50 is %d', (q, expected) => {
    expect(quantile([50, 40, 10, 30, 20], q)).toBe(expected)
  })

  it('never falls as the share rises, and begins and ends with the extremes', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (numbers, q) => {
        expect(quantile(numbers, 0)).toBe(Math.min(...numbers))
        expect(quantile(numbers, 1)).toBe(Math.max(...numbers))
        expect(quantile(numbers, q)).toBeGreaterThanOrEqual(quantile(numbers, q / 2))
      }),
    )
  })
})

describe('relative spread', () => {
  it('is the middle half by the median', () => {
    expect(relativeSpread([10, 20, 30, 40, 50])).toBeCloseTo(20 / 30)
    expect(relativeSpread([7, 7, 7])).toBe(0)
  })

  it('does not know the unit, nor one wild value', () => {
    fc.assert(
      fc.property(values, (numbers) => {
        const scaled = numbers.map((value) => value * 8)
        expect(relativeSpread(scaled)).toBeCloseTo(relativeSpread(numbers), 9)
      }),
    )
    expect(relativeSpread([10, 10, 10, 10, 10, 10, 10, 1e9])).toBe(0)
  })
})

describe('wall time per processor time', () => {
  it('weighs runs by how long they took', () => {
    expect(wallPerCpu([{ wall: 10, cpu: 10 }])).toBe(1)
    expect(
      wallPerCpu([
        { wall: 30, cpu: 10 },
        { wall: 1, cpu: 1 },
      ]),
    ).toBeCloseTo(31 / 11)
    // Two threads work twice as long as the wall clock runs.
    expect(wallPerCpu([{ wall: 5, cpu: 10 }])).toBe(0.5)
  })
})
