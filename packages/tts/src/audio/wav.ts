import { PocketTtsError } from '../errors.ts'

const WAV_HEADER_BYTES = 44

const BYTES_PER_SAMPLE = 2

/** RIFF lengths have 32 bits, and the outer one counts 36 header bytes too. */
const MOST_SAMPLES = Math.floor((0xffffffff - (WAV_HEADER_BYTES - 8)) / BYTES_PER_SAMPLE)

/** The byte rate has 32 bits. */
const HIGHEST_RATE = Math.floor(0xffffffff / BYTES_PER_SAMPLE)

/** What a stream of unknown length writes in place of both lengths; readers then read to the end. */
const UNKNOWN_LENGTH = 0xffffffff

/**
 * A WAV file, 16-bit PCM, one channel: the 44-byte header with true sizes, the samples, nothing more.
 *
 * @param samples in [−1, 1]; those beyond are clipped, NaN becomes 0
 * @param sampleRate samples a second
 * @throws PocketTtsError `invalid-audio` beyond 4 GiB, `invalid-option` for a sample rate that is no rate
 */
export const encodeWav = (samples: Float32Array, sampleRate = 24000): Uint8Array => {
  const header = wavHeader(samples.length, sampleRate)
  const file = new Uint8Array(WAV_HEADER_BYTES + samples.length * BYTES_PER_SAMPLE)
  file.set(header)
  writePcm16(samples, new DataView(file.buffer, WAV_HEADER_BYTES))
  return file
}

/**
 * The 44 bytes before the samples of a 16-bit WAV file of one channel. A writer that cannot go back and
 * patch them says `'unknown'` and follows with `pcm16` of every piece.
 *
 * @throws PocketTtsError `invalid-audio` beyond 4 GiB, `invalid-option` for a count or rate that is none
 */
export const wavHeader = (sampleCount: number | 'unknown', sampleRate = 24000): Uint8Array => {
  requireSampleRate(sampleRate)
  const dataBytes = sampleCount === 'unknown' ? UNKNOWN_LENGTH : countBytes(sampleCount)
  const header = new Uint8Array(WAV_HEADER_BYTES)
  const view = new DataView(header.buffer)
  const writeName = (offset: number, name: string): void => {
    for (let i = 0; i < name.length; i++) view.setUint8(offset + i, name.charCodeAt(i))
  }
  writeName(0, 'RIFF')
  view.setUint32(4, Math.min(dataBytes + WAV_HEADER_BYTES - 8, UNKNOWN_LENGTH), true)
  writeName(8, 'WAVEfmt ')
  view.setUint32(16, 16, true) // bytes of the format chunk
  view.setUint16(20, 1, true) // PCM
  view.setUint16(22, 1, true) // channels
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * BYTES_PER_SAMPLE, true)
  view.setUint16(32, BYTES_PER_SAMPLE, true) // bytes of one sample of all channels
  view.setUint16(34, BYTES_PER_SAMPLE * 8, true)
  writeName(36, 'data')
  view.setUint32(40, dataBytes, true)
  return header
}

/**
 * Samples as 16-bit little-endian PCM, two bytes each: `trunc(clamp(x, −1, 1) · 32767)` with the product in
 * float32, as the reference's writer has it (towards zero, so that silence stays silence); NaN becomes 0.
 */
export const pcm16 = (samples: Float32Array): Uint8Array => {
  const bytes = new Uint8Array(samples.length * BYTES_PER_SAMPLE)
  writePcm16(samples, new DataView(bytes.buffer))
  return bytes
}

const writePcm16 = (samples: Float32Array, view: DataView): void => {
  for (let i = 0; i < samples.length; i++) {
    const clamped = Math.min(1, Math.max(-1, samples[i]!))
    // setInt16 truncates towards zero and stores NaN as 0.
    view.setInt16(i * BYTES_PER_SAMPLE, Math.fround(clamped * 32767), true)
  }
}

const countBytes = (sampleCount: number): number => {
  if (!Number.isSafeInteger(sampleCount) || sampleCount < 0) {
    throw new PocketTtsError('invalid-option', `a sample count of ${sampleCount} is no count`)
  }
  if (sampleCount > MOST_SAMPLES) {
    throw new PocketTtsError(
      'invalid-audio',
      `${sampleCount} samples do not fit a WAV file, which ends at 4 GiB (${MOST_SAMPLES} samples); split them`,
    )
  }
  return sampleCount * BYTES_PER_SAMPLE
}

const requireSampleRate = (sampleRate: number): void => {
  if (Number.isSafeInteger(sampleRate) && sampleRate >= 1 && sampleRate <= HIGHEST_RATE) return
  throw new PocketTtsError(
    'invalid-option',
    `sampleRate is ${sampleRate}; it must be an integer from 1 to ${HIGHEST_RATE}`,
  )
}
