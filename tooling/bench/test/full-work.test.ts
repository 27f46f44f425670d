import { expect, it } from 'vitest'
import { fullWork } from '../src/full-work.ts'

/** 6 · 12 · 1024² weights in the layers, 32 · 1024 on the way in and 1024 for the end of speech. */
const layers = 75_497_472
const others = 33_792
/** 175 positions, 6 layers, 16 heads × 64, keys and values in float32. */
const cache = 175 * 6 * 2048 * 4

it.each([
  ['f32', 4, 4],
  ['bf16', 2, 2],
  ['int8', 1, 2],
] as const)('a step in %s reads every weight once, and the cache', (kept, layerBytes, otherBytes) => {
  expect(fullWork(kept, 'f32').bytes.step).toBe(layers * layerBytes + others * otherBytes + cache)
})

it('a flow step reads the flow head but for its time embeddings', () => {
  const weights = 512 * 1024 + 512 * 32 + 6 * (1536 + 2 * 512) * 512 + 1024 * 512 + 32 * 512
  expect(fullWork('bf16', 'f32').bytes.flow).toBe(2 * weights)
})

it('a frame of the codec multiplies and adds for its transformer, its attention and its convolutions', () => {
  const transformer = 2 * 16 * 2 * 12 * 512 ** 2
  const attention = 2 * 16 * 4 * 512 * 250
  const seanet =
    2 * 16 * 512 * 512 * 7 +
    2 * 16 * 512 * 256 * 12 +
    2 * 96 * (128 * 256 * 3 + 256 * 128) +
    2 * 96 * 256 * 128 * 10 +
    2 * 480 * (64 * 128 * 3 + 128 * 64) +
    2 * 480 * 128 * 64 * 8 +
    2 * 1920 * (32 * 64 * 3 + 64 * 32 + 64 * 3)
  const { operations } = fullWork('bf16', 'int16')
  expect(operations.decode).toBe(transformer + attention + seanet)
  // Attention and the last convolution, 64 channels to one, stay float32.
  expect(operations.decodeIntegers).toBe(transformer + seanet - 2 * 1920 * 64 * 3)
  expect(fullWork('bf16', 'f32').operations).toEqual({ ...operations, decodeIntegers: 0 })
})

it('a prompt ends where the last cache is filled', () => {
  const weights = layers - 9 * 1024 ** 2
  const attention = 5 * 4 * 1024 * (125 + 25.5)
  expect(fullWork('int8', 'f32').operations.prompt).toBe(50 * (2 * weights + attention))
})
