import { WavDecoder } from './wav-decoder.ts'

/**
 * Reads a whole WAV file of 24 kHz, one channel, 16-bit PCM into samples in [−1, 1): see `WavDecoder`.
 *
 * @throws PocketTtsError `invalid-audio` for everything else, naming what was found and what is wanted
 */
export const decodeWav = (file: Uint8Array): Float32Array => {
  const decoder = new WavDecoder()
  const samples = decoder.push(file)
  decoder.finish()
  return samples
}
