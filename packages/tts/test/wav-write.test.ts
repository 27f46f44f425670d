import { decodeWav, encodeWav, pcm16, wavHeader } from '@pocket/tts'
import { readFixture, readGoldens } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

// RIFF, fmt and the head of data, as every writer of plain PCM makes them.
const headerBytes = 44

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const values = (samples: number[]): number[] => [...new Int16Array(pcm16(Float32Array.from(samples)).buffer)]

describe('encodeWav', () => {
  it("gives the reference writer's bytes, without the silence that it appends", () => {
    const { data: samples } = readGoldens('audio/expected.safetensors').get('writer.in')!
    const file = encodeWav(samples)
    expect(file).toHaveLength(headerBytes + samples.length * 2)
    const golden = readFixture('audio/writer.wav')
    expect(file.subarray(headerBytes)).toEqual(golden.slice(headerBytes, file.length))
    // Of the header, all but the two lengths that the reference invents.
    expect(file.subarray(8, 40)).toEqual(golden.slice(8, 40))
  })

  it('comes back within one step', () => {
    fc.assert(
      fc.property(fc.float32Array({ min: -1, max: 1, noNaN: true, minLength: 1 }), (samples) => {
        const back = decodeWav(encodeWav(samples))
        expect(back).toHaveLength(samples.length)
        samples.forEach((sample, i) => {
          // One step for the truncation, and up to one for writing × 32767 and reading / 32768.
          expect(Math.abs(back[i]! - sample)).toBeLessThanOrEqual(2 / 32767)
        })
      }),
    )
  })

  it('states true sizes', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.integer({ min: 1, max: 192_000 }), (count, rate) => {
        const file = encodeWav(new Float32Array(count), rate)
        const view = viewOf(file)
        expect(view.getUint32(4, true)).toBe(file.length - 8)
        expect(view.getUint32(40, true)).toBe(file.length - headerBytes)
        expect(view.getUint32(24, true)).toBe(rate)
        expect(view.getUint32(28, true)).toBe(rate * 2)
      }),
    )
  })

  it('writes no samples as a header alone', () => {
    expect(encodeWav(new Float32Array(0))).toEqual(wavHeader(0))
  })
})

describe('pcm16', () => {
  it('truncates towards zero, clips, and has 0 for NaN', () => {
    expect(values([0, 1, -1, 2, -2, 0.99999, -0.99999])).toEqual([
      0, 32767, -32767, 32767, -32767, 32766, -32766,
    ])
    expect(values([1 / 32768, -1 / 32768])).toEqual([0, 0])
    expect(values([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])).toEqual([
      0, 32767, -32767,
    ])
  })

  it('takes the product in float32', () => {
    // In float64 these products are 0.9999999990… and 1.9999999981…, which would truncate to 0 and 1.
    expect(values([1 / 32767, 2 / 32767])).toEqual([1, 2])
  })

  it('gives in pieces what it gives at once', () => {
    fc.assert(
      fc.property(fc.float32Array({ min: -2, max: 2 }), fc.nat(), (samples, at) => {
        const cut = samples.length === 0 ? 0 : at % samples.length
        const pieces = [...pcm16(samples.subarray(0, cut)), ...pcm16(samples.subarray(cut))]
        expect(pieces).toEqual([...pcm16(samples)])
      }),
    )
  })
})

describe('wavHeader', () => {
  it('before the pieces of a stream reads back as the whole', () => {
    const samples = Float32Array.from({ length: 100 }, (_, i) => i / 100)
    const stream = new Uint8Array([...wavHeader('unknown'), ...pcm16(samples)])
    expect(viewOf(stream).getUint32(4, true)).toBe(0xffffffff)
    expect(viewOf(stream).getUint32(40, true)).toBe(0xffffffff)
    expect(decodeWav(stream)).toEqual(decodeWav(encodeWav(samples)))
  })

  it('ends at 4 GiB', () => {
    const most = (0xffffffff - 37) / 2
    expect(viewOf(wavHeader(most)).getUint32(4, true)).toBe(0xfffffffe)
    expect(() => wavHeader(most + 1)).toThrow(expect.objectContaining({ code: 'invalid-audio' }))
  })

  it.each([-1, 0.5, Number.NaN])('refuses a count of %s', (count) => {
    expect(() => wavHeader(count)).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })

  it.each([0, -24000, 22050.5, 2 ** 31, Number.NaN])('refuses a sample rate of %s', (rate) => {
    expect(() => encodeWav(new Float32Array(1), rate)).toThrow(
      expect.objectContaining({ code: 'invalid-option' }),
    )
  })
})
