import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FADE, PREFILL, Ring } from '../src/playback/ring.ts'

const capacity = 24_000

/** A sine of 200 Hz at full scale: from sample to sample it moves by 0.053 at most. */
const tone = (length: number, start = 0): Float32Array =>
  Float32Array.from({ length }, (_, i) => Math.sin((2 * Math.PI * 200 * (start + i)) / 24_000))

const largestStep = (samples: readonly number[]): number =>
  samples.reduce((most, sample, i) => Math.max(most, Math.abs(sample - (samples[i - 1] ?? 0))), 0)

const play = (ring: Ring, blocks: number): number[] =>
  Array.from({ length: blocks }, () => {
    const block = new Float32Array(128).fill(9)
    ring.fill(block)
    return [...block]
  }).flat()

describe('Ring', () => {
  it('plays what was pushed, bit for bit, however it was cut', () => {
    const pieces = fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(pieces, (lengths) => {
        const ring = new Ring(capacity)
        const expected: number[] = []
        for (const length of lengths) {
          const piece = tone(length, expected.length + 1)
          ring.push(piece)
          expected.push(...piece)
        }
        ring.end()
        const heard = play(ring, Math.ceil(expected.length / 128))
        expect(heard.slice(0, expected.length)).toEqual(expected)
        expect(heard.slice(expected.length).every((sample) => sample === 0)).toBe(true)
        expect(ring.isFinished).toBe(true)
        expect(ring.metrics).toEqual({ played: expected.length, underruns: 0 })
      }),
    )
  })

  it('goes round its memory without a seam', () => {
    const ring = new Ring(8000)
    const frames = Array.from({ length: 20 }, (_, i) => tone(1920, 1920 * i))
    ring.push(frames[0]!)
    ring.push(frames[1]!)
    const heard = frames.slice(2).flatMap((frame) => {
      ring.push(frame)
      return play(ring, 15)
    })
    ring.end()
    heard.push(...play(ring, 30))
    expect(heard).toEqual(frames.flatMap((frame) => [...frame]))
  })

  it('waits for the prefill, and not at all for what is shorter', () => {
    const ring = new Ring(capacity)
    ring.push(tone(PREFILL - 1))
    expect(play(ring, 3).every((sample) => sample === 0)).toBe(true)
    ring.push(tone(1))
    expect(play(ring, 1)).toEqual([...tone(128)])
    const short = new Ring(capacity)
    short.push(tone(128))
    short.end()
    expect(play(short, 1)).toEqual([...tone(128)])
  })

  it('never clicks, whenever frames are late', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 80 }), { minLength: 3, maxLength: 12 })
    fc.assert(
      fc.property(waits, (blocksBefore) => {
        const ring = new Ring(2 * capacity)
        const heard: number[] = []
        for (const [i, blocks] of blocksBefore.entries()) {
          ring.push(tone(1920, 1920 * i))
          heard.push(...play(ring, blocks))
        }
        // A fade adds at most its own slope to the tone's.
        expect(largestStep(heard)).toBeLessThan(0.0524 + 1 / FADE)
      }),
    )
  })

  it('counts a pause, and waits longer after it', () => {
    const ring = new Ring(capacity)
    ring.push(tone(PREFILL))
    play(ring, 40)
    expect(ring.metrics).toEqual({ played: PREFILL, underruns: 1 })
    ring.push(tone(PREFILL))
    expect(play(ring, 3).every((sample) => sample === 0)).toBe(true)
    ring.push(tone(PREFILL))
    expect(play(ring, 3).some((sample) => sample !== 0)).toBe(true)
  })

  it('stops within a fade, without a click', () => {
    const ring = new Ring(capacity)
    ring.push(tone(9600))
    const before = play(ring, 13)
    ring.stop()
    ring.stop()
    const after = play(ring, 1)
    ring.stop()
    after.push(...play(ring, 2))
    expect(largestStep([...before, ...after])).toBeLessThan(0.0524 + 1 / FADE)
    expect(after.slice(FADE).every((sample) => sample === 0)).toBe(true)
    expect(ring.isFinished).toBe(true)
  })

  it('is finished at once when it is stopped before it sounds', () => {
    const ring = new Ring(capacity)
    ring.push(tone(1000))
    ring.stop()
    expect(ring.isFinished).toBe(true)
    expect(play(ring, 1).every((sample) => sample === 0)).toBe(true)
  })

  it('plays nothing of what comes after it was stopped, whether it had begun or not', () => {
    const silent = new Ring(capacity)
    silent.push(tone(1000))
    silent.stop()
    silent.push(tone(1920))
    expect(play(silent, 20).every((sample) => sample === 0)).toBe(true)
    expect(silent.isFinished).toBe(true)

    const sounding = new Ring(capacity)
    sounding.push(tone(9600))
    play(sounding, 13)
    sounding.stop()
    sounding.push(tone(1920))
    const after = play(sounding, 20)
    expect(after.slice(FADE).every((sample) => sample === 0)).toBe(true)
    expect(sounding.isFinished).toBe(true)
  })

  it('refuses what it has no room for', () => {
    const ring = new Ring(8000)
    ring.push(new Float32Array(7000))
    expect(() => ring.push(new Float32Array(1001))).toThrow(RangeError)
  })
})
