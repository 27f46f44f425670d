import { createCpuKernels } from '@pocket/kernels-cpu'
import { type Kernels, type KvCache, record } from '@pocket/nn'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { levels } from './levels.ts'

const values = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => Math.sin(12.9898 * (i + 1) + seed))

const isUnavailable = expect.objectContaining({ name: 'KernelError', code: 'unavailable' })

describe.each(levels)('caches that are continued from another, $title', ({ level, missing }) => {
  describe.skipIf(missing)('here', () => {
    let kernels: Kernels
    beforeAll(async () => {
      kernels = await createCpuKernels({ simd: level })
    })

    const linear = (positions: number, heads = 2, headDim = 6): KvCache => {
      const cache = kernels.kvCache({ heads, headDim, capacity: positions + 3, maxPeriod: 10000 })
      const length = positions * heads * headDim
      cache.load(values(length, 1), values(length, 2), positions)
      return cache
    }

    const attend = async (cache: KvCache, rows: number, seed: number): Promise<Float32Array> => {
      const columns = 3 * cache.heads * cache.headDim
      const plan = kernels.plan(
        record(
          'attention',
          (ops) => void ops.tap('out', ops.attention(ops.input('x', rows, columns), cache)),
        ),
      )
      plan.write('x', values(rows * columns, seed))
      plan.run()
      const { data } = await plan.read('out')
      plan.dispose()
      return data
    }

    it('attend and are read as copies do, bit for bit, and do not touch each other', async () => {
      const sizes = fc.record({
        positions: fc.integer({ min: 0, max: 40 }),
        heads: fc.integer({ min: 1, max: 3 }),
        headDim: fc.constantFrom(2, 6, 32, 34),
        rows: fc.integer({ min: 1, max: 12 }),
      })
      await fc.assert(
        fc.asyncProperty(sizes, async ({ positions, heads, headDim, rows }) => {
          const base = linear(positions, heads, headDim)
          const { k, v } = await base.read()
          const capacity = positions + 2 * rows
          const speak = async (cache: KvCache, seed: number) => {
            const outputs = [await attend(cache, rows, seed), await attend(cache, rows, seed + 1)]
            return { outputs, seen: await cache.read(), late: await cache.read(positions >> 1) }
          }
          const copied = async (seed: number) => {
            const cache = kernels.kvCache({ heads, headDim, capacity, maxPeriod: 10000 })
            cache.load(k, v, positions)
            const said = await speak(cache, seed)
            cache.dispose()
            return said
          }
          const first = base.continued!(capacity)
          const second = base.continued!(capacity)
          expect(first.position).toBe(positions)
          expect(await speak(first, 10)).toEqual(await copied(10))
          expect(await speak(second, 20)).toEqual(await copied(20))
          first.reset()
          expect(first.position).toBe(positions)
          expect(await speak(first, 30)).toEqual(await copied(30))
          expect(await base.read()).toEqual({ k, v })
          for (const cache of [first, second, base]) cache.dispose()
        }),
        { numRuns: 40 },
      )
    })

    it('outlive the one they come from', async () => {
      const base = linear(17)
      const expected = await base.read()
      const continued = base.continued!(20)
      base.dispose()
      // Would take the memory that the other lay in, if that were free.
      const others = [linear(17), linear(17)]
      expect(await continued.read()).toEqual(expected)
      for (const cache of [continued, ...others]) cache.dispose()
    })

    it('are refused where they make no sense', () => {
      const options = { heads: 1, headDim: 2, maxPeriod: 10000 }
      const ring = kernels.kvCache({ ...options, capacity: 16, window: 8 })
      expect(() => ring.continued!(20)).toThrow(isUnavailable)
      const base = linear(9)
      expect(() => base.continued!(8)).toThrow(expect.objectContaining({ code: 'capacity' }))
      const continued = base.continued!(20)
      expect(() => continued.continued!(30)).toThrow(isUnavailable)
      for (const cache of [ring, continued, base]) cache.dispose()
    })

    it('keep what they share from being overwritten', () => {
      // The oracle's are copies.
      if (level === 'scalar') return
      const base = linear(9)
      const continued = base.continued!(20)
      const none = new Float32Array()
      expect(() => base.reset()).toThrow(isUnavailable)
      expect(() => base.load(none, none, 0)).toThrow(isUnavailable)
      expect(() => continued.load(none, none, 0)).toThrow(isUnavailable)
      continued.dispose()
      base.reset()
      expect(base.position).toBe(0)
      base.dispose()
    })
  })
})
