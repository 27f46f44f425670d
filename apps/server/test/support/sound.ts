import { pcm16 } from '@pocket/tts'
import decodeFile from 'audio-decode'

/** Samples of any audio file, by decoders that share nothing with the server. */
export const decode = async (file: Uint8Array): Promise<{ samples: Float32Array; sampleRate: number }> => {
  const { channelData, sampleRate } = await decodeFile(file)
  if (channelData.length !== 1) throw new Error(`it has ${channelData.length} channels`)
  return { samples: channelData[0]!, sampleRate }
}

/** As 16-bit integers: what a lossless format must keep. */
export const integers = (samples: Float32Array): Int16Array => new Int16Array(pcm16(samples).buffer)

export const everySecond = (samples: Float32Array): Float32Array =>
  Float32Array.from({ length: Math.floor(samples.length / 2) }, (_, i) => samples[2 * i]!)

/** Samples that are compared at each delay: the second half of a second, where a short sentence is loudest. */
const compared = { from: 6000, to: 18_000 }

/** Greatest correlation of `heard` with `spoken` over all delays up to `mostDelay` samples, and that delay. */
export const correlate = (
  heard: Float32Array,
  spoken: Float32Array,
  mostDelay: number,
): { correlation: number; delay: number } => {
  let best = { correlation: -1, delay: 0 }
  for (let delay = 0; delay <= mostDelay; delay++) {
    const correlation = correlationAt(heard, spoken, delay)
    if (correlation > best.correlation) best = { correlation, delay }
  }
  return best
}

const correlationAt = (heard: Float32Array, spoken: Float32Array, delay: number): number => {
  let [product, heardPower, spokenPower] = [0, 0, 0]
  const end = Math.min(heard.length - delay, spoken.length, compared.to)
  for (let i = compared.from; i < end; i++) {
    const [a, b] = [heard[i + delay]!, spoken[i]!]
    product += a * b
    heardPower += a * a
    spokenPower += b * b
  }
  return product / Math.sqrt(heardPower * spokenPower)
}
