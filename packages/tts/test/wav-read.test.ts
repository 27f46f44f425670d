import { decodeAudio, decodeWav, encodeWav, PocketTtsError, WavDecoder } from '@pocket/tts'
import { readFixture, readGoldens, readJson } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

interface Case {
  file: string
  must: 'load' | 'refuse'
}

const { cases } = readJson<{ cases: Case[] }>('audio/audio.json')
const expected = readGoldens('audio/expected.safetensors')

const invalidAudio = expect.objectContaining({ name: 'PocketTtsError', code: 'invalid-audio' })

/** A sound file of 100 samples, with changes to its header: [offset, bits, value]. */
const patched = (...changes: [offset: number, bits: 16 | 32, value: number][]): Uint8Array => {
  const file = encodeWav(Float32Array.from({ length: 100 }, (_, i) => i / 100))
  const view = new DataView(file.buffer)
  for (const [offset, bits, value] of changes) {
    if (bits === 16) view.setUint16(offset, value, true)
    else view.setUint32(offset, value, true)
  }
  return file
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0))

it('decodes audio of any supported kind as a promise, and refuses the others by name', async () => {
  const file = encodeWav(Float32Array.of(0, 0.5, -0.5))
  expect(await decodeAudio(file)).toEqual(decodeWav(file))
  await expect(decodeAudio(bytesOf('fLaC and so on, a sound file'))).rejects.toEqual(invalidAudio)
})

describe('the golden files', () => {
  it.each(cases.filter(({ must }) => must === 'load'))('$file loads', ({ file }) => {
    expect(decodeWav(readFixture(`audio/${file}`))).toEqual(expected.get(file)!.data)
  })

  it.each(cases.filter(({ must }) => must === 'refuse'))('$file is refused', ({ file }) => {
    expect(() => decodeWav(readFixture(`audio/${file}`))).toThrow(invalidAudio)
  })
})

describe('a file that comes in pieces', () => {
  /** Samples, or the message of the refusal. */
  const outcomeOf = (read: () => Float32Array): number[] | string => {
    try {
      return [...read()]
    } catch (error) {
      return (error as Error).message
    }
  }

  const readInPieces = (file: Uint8Array, cuts: readonly number[]): Float32Array => {
    const decoder = new WavDecoder()
    const ends = [...cuts.map((cut) => cut % (file.length + 1)), file.length].sort((a, b) => a - b)
    const pieces = ends.map((end, i) => decoder.push(file.subarray(ends[i - 1] ?? 0, end)))
    decoder.finish()
    return Float32Array.from(pieces.flatMap((piece) => [...piece]))
  }

  it.each(cases)('$file: the same samples or refusal as from the whole', ({ file }) => {
    const bytes = readFixture(`audio/${file}`)
    const whole = outcomeOf(() => decodeWav(bytes))
    // Most cuts where the headers are.
    const cut = fc.oneof(fc.nat(Math.min(100, bytes.length)), fc.nat(bytes.length))
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 20 }), (cuts) => {
        expect(outcomeOf(() => readInPieces(bytes, cuts))).toEqual(whole)
      }),
      { numRuns: 20 },
    )
  })

  it('keeps nothing of what it has given', () => {
    const decoder = new WavDecoder()
    const file = encodeWav(Float32Array.of(0.25, 0.5))
    expect(decoder.push(file.subarray(0, 45))).toHaveLength(0)
    expect(decoder.push(file.subarray(45, 47))).toHaveLength(1)
    expect(decoder.push(file.subarray(47))).toHaveLength(1)
    // What follows the samples is another chunk, and no sound.
    expect(decoder.push(Uint8Array.of(1, 2, 3, 4))).toHaveLength(0)
    decoder.finish()
  })
})

describe('what is found is named', () => {
  it.each([
    ['48000 Hz', patched([24, 32, 48000])],
    ['2 channels', patched([22, 16, 2])],
    ['24 bits', patched([34, 16, 24])],
    ['floating-point', patched([20, 16, 3], [34, 16, 32])],
    ['MP3 samples', patched([20, 16, 85])],
    ['format 0x1234', patched([20, 16, 0x1234])],
    ['no samples', patched([40, 32, 0])],
    ['an empty file', new Uint8Array(0)],
    ['a FLAC file', bytesOf('fLaC\0\0\0\x22')],
    ['an Ogg file', bytesOf('OggS\0\x02')],
    ['an MP3 file', bytesOf('ID3\x04\0')],
    ['an MP3 file', bytesOf('\xff\xfb\x90\x64')],
    ['an MP4 file', bytesOf('\0\0\0\x20ftypM4A ')],
    ['an AIFF file', bytesOf('FORM\0\0\0\x08AIFF')],
    ['a WebM or Matroska file', bytesOf('\x1aE\xdf\xa3')],
    ['big-endian', bytesOf('RIFX\0\0\0\0WAVE')],
    ['HTML', bytesOf('<!DOCTYPE html>')],
    ['the bytes de ad be ef', bytesOf('\xde\xad\xbe\xef')],
  ])('%s', (found, file) => {
    expect(() => decodeWav(file)).toThrow(invalidAudio)
    expect(() => decodeWav(file)).toThrow(found)
    expect(() => decodeWav(file)).toThrow(/24 kHz, one channel, 16-bit PCM/)
  })
})

describe('hostile bytes', () => {
  /** Loads or is refused; the samples never outnumber the bytes. */
  const survives = (file: Uint8Array): void => {
    try {
      expect(decodeWav(file).length).toBeLessThanOrEqual(file.length / 2)
    } catch (error) {
      if (!(error instanceof PocketTtsError)) throw error
      expect(error.code).toBe('invalid-audio')
    }
  }

  it('are refused or read as far as they go', () => {
    const sound = patched()
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 6 }),
        fc.nat(sound.length),
        (changes, length) => {
          const file = sound.slice(0, length)
          for (const [offset, value] of changes) file[offset] = value
          survives(file)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('may be anything after the name', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (rest) => {
        survives(rest)
        survives(new Uint8Array([...bytesOf('RIFF\xff\xff\xff\xffWAVE'), ...rest]))
      }),
    )
  })

  it('may lie at an odd offset of a larger buffer', () => {
    const sound = patched()
    const larger = new Uint8Array(sound.length + 3)
    larger.set(sound, 3)
    expect(decodeWav(larger.subarray(3))).toEqual(decodeWav(sound))
  })
})
