/// <reference path="./evan-opus.d.ts" />
// The WebAssembly build: the package's main entry prefers native code.
import { Encoder } from '@evan/opus/wasm/index.mjs'
import {
  type AudioCodec,
  type AudioSample,
  CustomAudioEncoder,
  EncodedPacket,
  registerEncoder,
} from 'mediabunny'

/** Opus counts time at this rate, whatever it encodes (RFC 7845, section 4). */
const clockRate = 48_000

/** Seconds in a packet, as nearly every Opus stream has it. */
const packetSeconds = 0.02

// Requests to the encoder, from libopus' opus_defines.h.
const SET_BITRATE = 4002
const GET_LOOKAHEAD = 4027

const inputRates = [8000, 12_000, 16_000, 24_000, 48_000]

/** libopus for mediabunny, which knows how packets become an Ogg file. */
class OpusEncoder extends CustomAudioEncoder {
  #encoder: Encoder | undefined
  /** Samples that wait for their packet to be full: 16 bits, one channel. */
  #pending = new Uint8Array(0)
  /** Samples that came in. */
  #received = 0
  #packets = 0
  /** Samples that the encoder delays its output by. */
  #lookahead = 0

  static override supports(codec: AudioCodec, config: AudioEncoderConfig): boolean {
    return codec === 'opus' && config.numberOfChannels === 1 && inputRates.includes(config.sampleRate)
  }

  override init(): void {
    const { sampleRate, bitrate } = this.config
    this.#encoder = new Encoder({ channels: 1, sample_rate: sampleRate, application: 'audio' })
    if (bitrate !== undefined) this.#encoder.ctl(SET_BITRATE, bitrate)
    this.#lookahead = this.#encoder.ctl(GET_LOOKAHEAD)
  }

  override encode(sample: AudioSample): void {
    const bytes = new Uint8Array(sample.allocationSize({ format: 's16', planeIndex: 0 }))
    sample.copyTo(bytes, { format: 's16', planeIndex: 0 })
    this.#received += bytes.length / 2
    this.#append(bytes)
    while (this.#pending.length >= this.#packetBytes) this.#emitPacket(packetSeconds)
  }

  /** Silence brings out what the encoder still holds; the last packet is cut to where the samples ended. */
  override flush(): void {
    const { sampleRate } = this.config
    const end = this.#received + this.#lookahead
    for (;;) {
      const missing = end - this.#packets * (this.#packetBytes / 2)
      if (missing <= 0) return
      this.#append(new Uint8Array(Math.max(0, this.#packetBytes - this.#pending.length)))
      this.#emitPacket(Math.min(packetSeconds, missing / sampleRate))
    }
  }

  override close(): void {
    this.#encoder?.drop()
    this.#encoder = undefined
  }

  get #packetBytes(): number {
    return 2 * Math.round(packetSeconds * this.config.sampleRate)
  }

  #append(bytes: Uint8Array): void {
    const joined = new Uint8Array(this.#pending.length + bytes.length)
    joined.set(this.#pending)
    joined.set(bytes, this.#pending.length)
    this.#pending = joined
  }

  #emitPacket(duration: number): void {
    const data = this.#encoder!.encode(this.#pending.subarray(0, this.#packetBytes))
    this.#pending = this.#pending.slice(this.#packetBytes)
    const packet = new EncodedPacket(data, 'key', this.#packets * packetSeconds, duration)
    const isFirst = this.#packets++ === 0
    this.onPacket(packet, isFirst ? { decoderConfig: this.#decoderConfig() } : {})
  }

  #decoderConfig(): AudioDecoderConfig {
    const { sampleRate } = this.config
    const preSkip = Math.round((this.#lookahead * clockRate) / sampleRate)
    return {
      codec: 'opus',
      sampleRate: clockRate,
      numberOfChannels: 1,
      description: identificationHeader(sampleRate, preSkip),
    }
  }
}

/** The first packet of an Ogg Opus file, of one channel (RFC 7845, section 5.1). */
const identificationHeader = (inputRate: number, preSkip: number): Uint8Array => {
  const header = new Uint8Array(19)
  const view = new DataView(header.buffer)
  header.set(new TextEncoder().encode('OpusHead'))
  view.setUint8(8, 1) // version
  view.setUint8(9, 1) // channels
  view.setUint16(10, preSkip, true)
  view.setUint32(12, inputRate, true)
  return header // No gain, and channel mapping family 0: both are zeros.
}

let isRegistered = false

/** Lets mediabunny encode Opus. */
export const registerOpusEncoder = (): void => {
  if (isRegistered) return
  isRegistered = true
  registerEncoder(OpusEncoder)
}
