import { decodeWav } from './decode-wav.ts'

/**
 * Reads an audio file into mono samples at 24 kHz. WAV files of that kind are the only ones supported yet: everything
 * else is refused by its name.
 *
 * @throws PocketTtsError `invalid-audio`, naming what was found and what is wanted
 */
export const decodeAudio = async (file: Uint8Array): Promise<Float32Array> => decodeWav(file)
