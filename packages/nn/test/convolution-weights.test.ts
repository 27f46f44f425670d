import { convolutionRows, filtersByStep, repeatedBias, transposedConvolutionRows } from '@pocket/nn'
import { expect, it } from 'vitest'

/** Values that say where they lie in `shape`: 10² · first + 10 · second + third index. */
const weight = (shape: readonly [number, number, number], byteOffset = 0) => {
  const [first, second, third] = shape
  const values = Float32Array.from({ length: first * second * third }, (_, at) => {
    const [i, j, k] = [Math.floor(at / (second * third)), Math.floor(at / third) % second, at % third]
    return 100 * i + 10 * j + k
  })
  const bytes = new Uint8Array(values.byteLength + byteOffset).subarray(byteOffset)
  bytes.set(new Uint8Array(values.buffer))
  return { dtype: 'F32' as const, shape, bytes }
}

const rowsOf = (
  { outputs, taps, channels, fill }: ReturnType<typeof convolutionRows>,
  first = 0,
): number[] => {
  const rows = new Float32Array((outputs - first) * taps * channels)
  fill(new Uint8Array(rows.buffer), first, outputs - first)
  return [...rows]
}

it.each([0, 1])('a convolution: time step by time step, its bytes %i off an even address', (byteOffset) => {
  const rows = convolutionRows(weight([2, 2, 3], byteOffset))
  expect(rows).toMatchObject({ outputs: 2, taps: 3, channels: 2, dtype: 'F32' })
  expect(rowsOf(rows)).toEqual([0, 10, 1, 11, 2, 12, 100, 110, 101, 111, 102, 112])
  expect(rowsOf(rows, 1)).toEqual([100, 110, 101, 111, 102, 112])
})

it('a transposed convolution: stride after stride of outputs, the oldest input first', () => {
  const rows = transposedConvolutionRows(weight([2, 1, 4]), 2)
  expect(rows).toMatchObject({ outputs: 2, taps: 2, channels: 2 })
  expect(rowsOf(rows)).toEqual([2, 102, 0, 100, 3, 103, 1, 101])
  expect([...repeatedBias(Float32Array.of(5, 6), 3)]).toEqual([5, 6, 5, 6, 5, 6])
})

it('depthwise filters: channels side by side', () => {
  expect([...filtersByStep(Float32Array.of(0, 1, 2, 10, 11, 12), 2)]).toEqual([0, 10, 1, 11, 2, 12])
})
