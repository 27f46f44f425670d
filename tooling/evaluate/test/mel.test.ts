import { describe, expect, it } from 'vitest'
import { alignedDistance, melSpectra, signalToDifference } from '../src/mel.ts'

/** A tone that slides from `from` to `to` hertz. */
const glide = (from: number, to: number, samples: number, level = 0.3): Float32Array => {
  let phase = 0
  return Float32Array.from({ length: samples }, (_, i) => {
    phase += (2 * Math.PI * (from + ((to - from) * i) / samples)) / 24000
    return level * Math.sin(phase)
  })
}

describe('mel spectra', () => {
  it('hear a tone where it is, at its level', () => {
    const [low, high] = [melSpectra(glide(300, 300, 4096)), melSpectra(glide(3000, 3000, 4096))]
    const loudest = (spectrum: Float64Array | undefined) => spectrum?.indexOf(Math.max(...spectrum)) ?? -1
    expect(loudest(low[3])).toBeLessThan(loudest(high[3]))
    const soft = melSpectra(glide(300, 300, 4096, 0.03))
    const band = loudest(low[3])
    expect((low[3]?.[band] ?? 0) - (soft[3]?.[band] ?? 0)).toBeCloseTo(20, 1)
  })

  it('of the same sound are no distance apart, and at another pace far less than of another sound', () => {
    const [slow, quick] = [melSpectra(glide(200, 3000, 24000)), melSpectra(glide(200, 3000, 18000))]
    const down = melSpectra(glide(3000, 200, 24000))
    expect(alignedDistance(slow, slow)).toBe(0)
    expect(alignedDistance(slow, quick)).toBeLessThan(0.3 * alignedDistance(slow, down))
  })
})

it('the signal is compared with what differs', () => {
  const sound = glide(200, 3000, 4800)
  expect(
    signalToDifference(
      sound,
      sound.map((sample) => 1.01 * sample),
    ),
  ).toBeCloseTo(40, 2)
  expect(signalToDifference(sound, sound.subarray(1))).toBeUndefined()
})
