import { PocketTtsError } from '../errors.ts'
import { containerName } from './container-name.ts'

const SAMPLE_RATE = 24000
const WANTED = 'a WAV file of 24 kHz, one channel, 16-bit PCM is wanted; convert it first'

const PCM = 0x0001
const EXTENSIBLE = 0xfffe

const FORMAT_NAMES: ReadonlyMap<number, string> = new Map([
  [0x02, 'ADPCM'],
  [0x03, 'floating-point'],
  [0x06, 'A-law'],
  [0x07, 'µ-law'],
  [0x11, 'IMA ADPCM'],
  [0x50, 'MPEG audio'],
  [0x55, 'MP3'],
])

/** The last 14 bytes of a sub-format GUID made from a plain format tag. */
const TAG_GUID_TAIL = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]

interface Chunk {
  readonly name: string
  readonly body: Uint8Array
}

/**
 * Reads a WAV file of 24 kHz, one channel, 16-bit PCM into samples in [−1, 1) (value / 32768).
 * Chunks other than `fmt ` and `data` are skipped. A data length beyond the end of the file, as streaming
 * writers leave it, is read to the end; half a sample there is dropped.
 *
 * @throws PocketTtsError `invalid-audio` for everything else, naming what was found and what is wanted
 */
export const decodeWav = (file: Uint8Array): Float32Array => {
  if (containerName(file) !== 'WAV') refuse(`this is ${containerName(file)}`)
  let formatSeen = false
  for (const { name, body } of chunks(file)) {
    if (name === 'fmt ') {
      requireFormat(body)
      formatSeen = true
    } else if (name === 'data') {
      if (!formatSeen) refuse('the WAV file has no fmt chunk before its data')
      return readSamples(body)
    }
  }
  refuse(formatSeen ? 'the WAV file has no data chunk' : 'the WAV file has neither format nor data')
}

function refuse(found: string): never {
  throw new PocketTtsError('invalid-audio', `${found}; ${WANTED}`)
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The file's own total length is not looked at: it is wrong in files from pipes and from careless editors. */
function* chunks(file: Uint8Array): Generator<Chunk> {
  const view = viewOf(file)
  let offset = 12
  while (offset + 8 <= file.length) {
    const name = String.fromCharCode(...file.subarray(offset, offset + 4))
    const length = view.getUint32(offset + 4, true)
    const start = offset + 8
    yield { name, body: file.subarray(start, Math.min(start + length, file.length)) }
    // A chunk of odd length is followed by one byte of padding.
    offset = start + length + (length % 2)
  }
}

const requireFormat = (body: Uint8Array): void => {
  if (body.length < 16) refuse(`the fmt chunk of the WAV file has ${body.length} bytes, fewer than 16`)
  const view = viewOf(body)
  const tag = formatTag(body)
  const channels = view.getUint16(2, true)
  const rate = view.getUint32(4, true)
  const bits = view.getUint16(14, true)
  if (tag !== PCM)
    refuse(`the WAV file holds ${FORMAT_NAMES.get(tag) ?? `format 0x${tag.toString(16)}`} samples`)
  if (bits !== 16) refuse(`the samples of the WAV file have ${bits} bits`)
  if (channels !== 1) refuse(`the WAV file has ${channels} channels`)
  if (rate !== SAMPLE_RATE) refuse(`the WAV file has a sample rate of ${rate} Hz`)
}

/** WAVE_FORMAT_EXTENSIBLE keeps the real tag in the first bytes of a GUID. */
const formatTag = (body: Uint8Array): number => {
  const view = viewOf(body)
  const tag = view.getUint16(0, true)
  if (tag !== EXTENSIBLE) return tag
  if (body.length < 40) refuse('the WAV file has an extensible format without its extension')
  if (TAG_GUID_TAIL.some((byte, i) => body[26 + i] !== byte)) refuse('the WAV file has an unknown sub-format')
  return view.getUint16(24, true)
}

const readSamples = (body: Uint8Array): Float32Array => {
  const view = viewOf(body)
  const samples = new Float32Array(Math.floor(body.length / 2))
  if (samples.length === 0) refuse('the WAV file holds no samples')
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(i * 2, true) / 32768
  return samples
}
