import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { alignment, FirstFitAllocator } from '../../src/wasm/allocator.ts'

const begin = 64
const end = 64 + 4096

type Action = { allocate: number } | { free: number }

/** Allocations by size, and frees by the index of a block that is still held. */
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ allocate: fc.integer({ min: 0, max: 900 }) }),
  fc.record({ free: fc.nat({ max: 20 }) }),
)

interface Held {
  offset: number
  length: number
}

/** Plays the actions; a refused allocation holds nothing. */
const play = (allocator: FirstFitAllocator, actions: Action[]): Held[] => {
  const held: Held[] = []
  for (const step of actions) {
    if ('allocate' in step) {
      const offset = allocator.allocate(step.allocate)
      if (offset !== undefined) held.push({ offset, length: step.allocate })
    } else if (held.length > 0) {
      const [block] = held.splice(step.free % held.length, 1)
      allocator.free(block!.offset)
    }
  }
  return held
}

describe('first-fit allocator', () => {
  it('hands out blocks that are aligned, inside the range and apart from each other', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const held = play(new FirstFitAllocator(begin, end), actions).sort((a, b) => a.offset - b.offset)
        let free = begin
        for (const { offset, length } of held) {
          expect(offset % alignment).toBe(0)
          expect(offset).toBeGreaterThanOrEqual(free)
          free = offset + Math.max(length, 1)
        }
        expect(free).toBeLessThanOrEqual(end)
      }),
    )
  })

  it('is as good as new once everything came back, in whatever order', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), fc.infiniteStream(fc.nat()), (actions, order) => {
        const allocator = new FirstFitAllocator(begin, end)
        const held = play(allocator, actions)
        while (held.length > 0) {
          const [block] = held.splice(order.next().value % held.length, 1)
          allocator.free(block!.offset)
        }
        expect(allocator.used).toBe(0)
        expect(allocator.allocate(end - begin)).toBe(begin)
        expect(allocator.allocate(1)).toBeUndefined()
      }),
    )
  })

  it('succeeds after it was extended to the end it asked for, and not before', () => {
    fc.assert(
      fc.property(
        fc.array(action, { maxLength: 60 }),
        fc.integer({ min: 1, max: 10_000 }),
        (actions, length) => {
          const allocator = new FirstFitAllocator(begin, end)
          play(allocator, actions)
          if (allocator.allocate(length) !== undefined) return
          const needed = allocator.endFor(length)
          allocator.extend(needed - 1)
          expect(allocator.allocate(length)).toBeUndefined()
          allocator.extend(needed)
          expect(allocator.allocate(length)).toBeDefined()
        },
      ),
    )
  })

  it('takes the first gap that holds a block', () => {
    const allocator = new FirstFitAllocator(begin, end)
    const [a, b, c] = [allocator.allocate(200)!, allocator.allocate(64)!, allocator.allocate(64)!]
    allocator.free(a)
    allocator.free(c)
    expect(allocator.allocate(64)).toBe(a)
    expect(allocator.allocate(300)).toBe(c)
    expect(allocator.used).toBe(64 + 64 + 320)
    expect(b).toBe(a + 256)
  })

  it('refuses to take back what it did not hand out', () => {
    const allocator = new FirstFitAllocator(begin, end)
    const offset = allocator.allocate(10)!
    allocator.free(offset)
    expect(() => allocator.free(offset)).toThrow(`no block at ${offset}`)
  })
})
