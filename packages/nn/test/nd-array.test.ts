import { ndArray } from '@pocket/nn'
import ndarray from 'ndarray'
import { expect, it } from 'vitest'

it('has the form of the ndarray package', () => {
  const { data, shape, stride, offset } = ndArray(
    Float32Array.from({ length: 24 }, (_, i) => i),
    [2, 3, 4],
  )
  const wrapped = ndarray(data, shape, stride, offset)
  expect(wrapped.get(1, 2, 3)).toBe(23)
  expect(wrapped.pick(1, null, null).get(0, 1)).toBe(13)
})
