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

const FILE_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
/** The longest format chunk whose parts mean anything here, WAVE_FORMAT_EXTENSIBLE. */
const FORMAT_BYTES = 40
const BYTES_PER_SAMPLE = 2

/**
 * Reads a WAV file of 24 kHz, one channel, 16-bit PCM piece by piece, as it comes from a disk, a pipe or a network:
 * any length takes the memory of one piece, and pieces of any length give the same samples. Chunks other than `fmt `
 * and `data` are skipped. A data length beyond the end of the file, as streaming writers leave it, is read to the end;
 * half a sample there is dropped.
 */
export class WavDecoder {
  /** What the next bytes are. */
  #stage: 'file header' | 'chunk header' | 'format' | 'skipped' | 'samples' | 'end' = 'file header'
  /** Bytes that the chunk under way still has to come, by its own word. */
  #left = 0
  #rest = new Uint8Array(0)
  #hasFormat = false
  #hasSamples = false

  /**
   * Takes the file's next bytes and gives the samples that they complete, in [−1, 1) (value / 32768).
   *
   * @throws PocketTtsError `invalid-audio` as soon as the file is none of the kind, naming what was found and what is
   *   wanted
   */
  push(bytes: Uint8Array): Float32Array {
    let input = join(this.#rest, bytes)
    for (let used = this.#readHeaders(input); used > 0; used = this.#readHeaders(input)) {
      input = input.subarray(used)
    }
    const samples = this.#stage === 'samples' ? this.#readSamples(input) : new Float32Array(0)
    const used = samples.length * BYTES_PER_SAMPLE
    // A copy of the few bytes that wait: a view would keep the whole piece.
    this.#rest = this.#stage === 'end' ? new Uint8Array(0) : input.slice(used)
    return samples
  }

  /**
   * Says that the file has come to its end.
   *
   * @throws PocketTtsError `invalid-audio` where it has ended without a sample
   */
  finish(): void {
    if (this.#hasSamples) return
    if (this.#stage === 'file header') refuse(`this is ${containerName(this.#rest)}`)
    if (this.#stage === 'samples' || this.#stage === 'end') refuse('the WAV file holds no samples')
    refuse(this.#hasFormat ? 'the WAV file has no data chunk' : 'the WAV file has neither format nor data')
  }

  /** Reads one thing that comes before the samples; gives the bytes it took, 0 where more must come first. */
  #readHeaders(input: Uint8Array): number {
    switch (this.#stage) {
      case 'file header':
        return this.#readFileHeader(input)
      case 'chunk header':
        return this.#readChunkHeader(input)
      case 'format':
        return this.#readFormat(input)
      case 'skipped':
        return this.#skip(input.length)
      default:
        return 0
    }
  }

  /** The file's own total length is not looked at: it is wrong in files from pipes and from careless editors. */
  #readFileHeader(input: Uint8Array): number {
    if (input.length < FILE_HEADER_BYTES) return 0
    if (containerName(input) !== 'WAV') refuse(`this is ${containerName(input)}`)
    this.#stage = 'chunk header'
    return FILE_HEADER_BYTES
  }

  #readChunkHeader(input: Uint8Array): number {
    if (input.length < CHUNK_HEADER_BYTES) return 0
    const name = String.fromCharCode(...input.subarray(0, 4))
    this.#left = viewOf(input).getUint32(4, true)
    if (name === 'data') {
      if (!this.#hasFormat) refuse('the WAV file has no fmt chunk before its data')
      this.#stage = this.#left < BYTES_PER_SAMPLE ? 'end' : 'samples'
    } else if (name === 'fmt ') {
      if (this.#left < 16) refuse(`the fmt chunk of the WAV file has ${this.#left} bytes, fewer than 16`)
      this.#stage = 'format'
    } else {
      this.#skipChunk()
    }
    return CHUNK_HEADER_BYTES
  }

  #readFormat(input: Uint8Array): number {
    const length = Math.min(this.#left, FORMAT_BYTES)
    if (input.length < length) return 0
    requireFormat(input.subarray(0, length))
    this.#hasFormat = true
    this.#skipChunk(length)
    return length
  }

  /** Skips what is left of a chunk of which some was read. One of odd length is followed by one byte of padding. */
  #skipChunk(read = 0): void {
    this.#left += (this.#left % 2) - read
    this.#stage = this.#left > 0 ? 'skipped' : 'chunk header'
  }

  #skip(available: number): number {
    const used = Math.min(this.#left, available)
    this.#left -= used
    if (this.#left === 0) this.#stage = 'chunk header'
    return used
  }

  #readSamples(input: Uint8Array): Float32Array {
    const view = viewOf(input)
    const samples = new Float32Array(Math.floor(Math.min(input.length, this.#left) / BYTES_PER_SAMPLE))
    for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(i * BYTES_PER_SAMPLE, true) / 32768
    this.#left -= samples.length * BYTES_PER_SAMPLE
    this.#hasSamples ||= samples.length > 0
    if (this.#left < BYTES_PER_SAMPLE) this.#stage = 'end'
    return samples
  }
}

const refuse: (found: string) => never = (found) => {
  throw new PocketTtsError('invalid-audio', `${found}; ${WANTED}`)
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const join = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  if (first.length === 0) return second
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}

const requireFormat = (body: Uint8Array): void => {
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
  if (body.length < FORMAT_BYTES) refuse('the WAV file has an extensible format without its extension')
  if (TAG_GUID_TAIL.some((byte, i) => body[26 + i] !== byte)) refuse('the WAV file has an unknown sub-format')
  return view.getUint16(24, true)
}
