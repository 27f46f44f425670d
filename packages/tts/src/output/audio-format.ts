import { pcm16, wavHeader } from '../audio/wav.ts'
import { PocketTtsError } from '../errors.ts'

/**
 * `wav`: 16-bit WAV. `s16le`: its samples without a header. `f32le`: samples as they are computed, 32-bit floats.
 * One channel, lowest byte first.
 */
export type AudioFormat = 'wav' | 's16le' | 'f32le'

export interface OutputOptions {
  /** Default `wav`. */
  readonly format?: AudioFormat | undefined
  /** Samples a second. Default 24000, as every model has. */
  readonly sampleRate?: number | undefined
}

/** What an output needs of a frame: an `AudioFrame`, or samples that something else has been done to. */
export interface Samples {
  readonly pcm: Float32Array
}

/** How samples become bytes. */
export interface Encoder {
  readonly contentType: string
  /** Comes before the first samples. */
  readonly header: Uint8Array
  encode(pcm: Float32Array): Uint8Array
}

/** Throws PocketTtsError `invalid-option`. */
export const createEncoder = ({ format = 'wav', sampleRate = 24000 }: OutputOptions): Encoder => {
  // Its length is not known before its end; readers take such a file to reach as far as it does.
  const header = wavHeader('unknown', sampleRate)
  switch (format) {
    case 'wav':
      return { contentType: 'audio/wav', header, encode: pcm16 }
    case 's16le':
    case 'f32le': {
      const contentType = `audio/pcm; rate=${sampleRate}; channels=1; format=${format}`
      return { contentType, header: new Uint8Array(0), encode: format === 's16le' ? pcm16 : float32 }
    }
    default:
      throw new PocketTtsError(
        'invalid-option',
        `format is ${String(format)}; it must be 'wav', 's16le' or 'f32le'`,
      )
  }
}

const float32 = (samples: Float32Array): Uint8Array => {
  const bytes = new Uint8Array(samples.length * 4)
  const view = new DataView(bytes.buffer)
  for (const [i, sample] of samples.entries()) view.setFloat32(4 * i, sample, true)
  return bytes
}
