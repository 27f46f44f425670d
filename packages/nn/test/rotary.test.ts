import { fillRotations, rotaryFrequencies } from '@pocket/nn'
import { expect, it } from 'vitest'

it('makes angles in float32, as the reference does', () => {
  const frequencies = rotaryFrequencies(64, 10000)
  const exponent = Math.fround((-Math.log(10000) * 2) / 64)
  for (const [pair, frequency] of frequencies.entries()) {
    expect(frequency).toBe(Math.fround(Math.exp(Math.fround(pair * exponent))))
  }
  const rotations = new Float32Array(3 * 64)
  fillRotations(rotations, frequencies, 4999, 3)
  const angle = Math.fround(frequencies[1]! * 5000)
  expect(rotations[64 + 2]).toBe(Math.fround(Math.cos(angle)))
  expect(rotations[64 + 3]).toBe(Math.fround(Math.sin(angle)))
})
