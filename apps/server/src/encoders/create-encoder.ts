import type { AudioEncodingConfig, OutputFormat } from 'mediabunny'
import type { Encoder } from './encoder.ts'
import type { Format } from './formats.ts'
import { mp3Encoder } from './mp3.ts'
import { pcmEncoder, wavEncoder } from './uncompressed.ts'

/** Bits per second: what one voice at 24 kHz needs to sound as it did before. */
const bitrate = { mp3: 64_000, aac: 64_000, opus: 32_000 } as const

/** An encoder for one stream; abort its `writable` or cancel its `readable` to be rid of it early. */
export const createEncoder = async (format: Format, sampleRate: number): Promise<Encoder> => {
  switch (format) {
    case 'pcm':
      return pcmEncoder()
    case 'wav':
      return wavEncoder(sampleRate)
    case 'mp3':
      return mp3Encoder(sampleRate, bitrate.mp3)
    default:
      return containerEncoder(format, sampleRate)
  }
}

/** Codecs that are loaded only when somebody asks for them: together they weigh megabytes. */
const containerEncoder = async (format: 'opus' | 'flac' | 'aac', sampleRate: number): Promise<Encoder> => {
  const { muxingEncoder } = await import('./container.ts')
  const { output, codec } = await containers[format]()
  return muxingEncoder(output, codec, sampleRate)
}

interface Container {
  readonly output: OutputFormat
  readonly codec: AudioEncodingConfig
}

const containers: Readonly<Record<'opus' | 'flac' | 'aac', () => Promise<Container>>> = {
  async opus() {
    const [{ OggOutputFormat }, { registerOpusEncoder }] = await Promise.all([
      import('mediabunny'),
      import('./opus.ts'),
    ])
    registerOpusEncoder()
    // A page for every frame of the model: a longer one would hold speech back.
    const output = new OggOutputFormat({ maximumPageDuration: 0.08 })
    return { output, codec: { codec: 'opus', bitrate: bitrate.opus } }
  },
  async flac() {
    const [{ FlacOutputFormat }, { registerFlacEncoder }] = await Promise.all([
      import('mediabunny'),
      import('@mediabunny/flac-encoder'),
    ])
    registerFlacEncoder()
    return { output: new FlacOutputFormat({ appendOnly: true }), codec: { codec: 'flac' } }
  },
  async aac() {
    const [{ AdtsOutputFormat }, { registerAacEncoder }] = await Promise.all([
      import('mediabunny'),
      import('@mediabunny/aac-encoder'),
    ])
    registerAacEncoder()
    return { output: new AdtsOutputFormat(), codec: { codec: 'aac', bitrate: bitrate.aac } }
  },
}
