import { describe, expect, it } from 'vitest'
import { ask, bytesOf, useServers } from './support/serving.ts'
import { correlate, decode, everySecond, integers } from './support/sound.ts'

const servers = useServers()

const input = 'Good morning.'

/** What the server is to deliver, and the bytes in which it does. */
const speak = async (response_format: string | undefined, seed = 1) => {
  const [server, spoken] = await Promise.all([
    servers.start(),
    servers.engine.generate(input, { voice: 'rms', seed }),
  ])
  const response = await ask(server, { input, response_format, seed })
  expect(response.status).toBe(200)
  const contentType = response.headers.get('content-type')
  return { spoken, contentType, file: await bytesOf(response) }
}

const ascii = (bytes: Uint8Array): string => String.fromCharCode(...bytes)

const count = (file: Uint8Array, text: string): number =>
  Buffer.from(file).toString('latin1').split(text).length - 1

describe('lossless formats hold exactly what the engine says', () => {
  it('pcm: samples and nothing else', async () => {
    const { spoken, file, contentType } = await speak('pcm')
    expect(contentType).toBe('audio/pcm')
    expect(new Int16Array(file.buffer)).toEqual(integers(spoken))
  })

  it('wav: one header of unknown length, samples, nothing after them', async () => {
    const { spoken, file, contentType } = await speak('wav')
    expect(contentType).toBe('audio/wav')
    const header = new DataView(file.buffer)
    expect([ascii(file.subarray(0, 4)), ascii(file.subarray(8, 16)), ascii(file.subarray(36, 40))]).toEqual([
      'RIFF',
      'WAVEfmt ',
      'data',
    ])
    expect([header.getUint32(4, true), header.getUint32(40, true)]).toEqual([0xffffffff, 0xffffffff])
    expect(new Int16Array(file.slice(44).buffer)).toEqual(integers(spoken))
  })

  it('flac: 16 bits, one header', async () => {
    const { spoken, file, contentType } = await speak('flac')
    expect(contentType).toBe('audio/flac')
    expect(ascii(file.subarray(0, 4))).toBe('fLaC')
    expect(count(file, 'fLaC')).toBe(1)
    const { samples, sampleRate } = await decode(file)
    expect(sampleRate).toBe(24_000)
    expect(samples.length).toBe(spoken.length)
    // The decoder's own scale: 16-bit integers over 32768.
    const decoded = Int16Array.from(samples, (sample) => Math.round(sample * 32_768))
    expect(decoded).toEqual(integers(spoken))
  })
})

describe('lossy formats sound like it', () => {
  it('opus: to the sample as long, though the codec delays it', async () => {
    const { spoken, file, contentType } = await speak('opus')
    expect(contentType).toBe('audio/ogg')
    expect([count(file, 'OpusHead'), count(file, 'OpusTags')]).toEqual([1, 1])
    const { samples, sampleRate } = await decode(file)
    expect(sampleRate).toBe(48_000)
    expect(samples.length).toBe(2 * spoken.length)
    const { correlation, delay } = correlate(everySecond(samples), spoken, 100)
    expect(correlation).toBeGreaterThan(0.97)
    expect(delay).toBeLessThanOrEqual(1)
  })

  it.each([
    ['mp3', 'audio/mpeg', 0.99],
    ['aac', 'audio/aac', 0.97],
  ] as const)('%s: within the padding of its own frames', async (format, type, least) => {
    const { spoken, file, contentType } = await speak(format)
    expect(contentType).toBe(type)
    const decoded = await decode(file)
    // The decoder of AAC expects that sound of so low a rate has a hidden upper half, and doubles the rate.
    const samples = decoded.sampleRate === 48_000 ? everySecond(decoded.samples) : decoded.samples
    // Both codecs put about a frame or two of 1024 or 1152 samples around the sound.
    expect(samples.length).toBeGreaterThanOrEqual(spoken.length)
    expect(samples.length).toBeLessThan(spoken.length + 4 * 1152)
    expect(correlate(samples, spoken, 3000).correlation).toBeGreaterThan(least)
  })

  it('is MP3 where nothing is asked for, as in OpenAI’s API', async () => {
    const [usual, mp3] = await Promise.all([speak(undefined), speak('mp3')])
    expect(usual.contentType).toBe('audio/mpeg')
    expect(usual.file).toEqual(mp3.file)
  })
})
