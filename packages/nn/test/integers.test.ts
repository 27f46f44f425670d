import { greatestMagnitude, nearestInteger } from '@pocket/nn'
import { expect, it } from 'vitest'

it('numbers become the nearest integers, ties even ones', () => {
  const cases = [
    [0.5, 0],
    [1.5, 2],
    [2.5, 2],
    [-0.5, 0],
    [-1.5, -2],
    [-2.5, -2],
    [0.49999997, 0],
    [126.50001, 127],
    [-126.49999, -126],
    [8190.5, 8190],
    [Number.NaN, 0],
    [Number.NEGATIVE_INFINITY, 0],
  ] as const
  for (const [value, expected] of cases) expect(nearestInteger(value) + 0, String(value)).toBe(expected)
})

it('the greatest magnitude is that of either sign, and NaN where there is one', () => {
  expect(greatestMagnitude(Float32Array.of(1, -3, 2))).toBe(3)
  expect(greatestMagnitude(new Float32Array())).toBe(0)
  expect(greatestMagnitude(Float32Array.of(1, Number.NaN, 2))).toBeNaN()
})
