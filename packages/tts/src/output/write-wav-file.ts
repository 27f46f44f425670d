import { fileURLToPath } from 'node:url'
import { pcm16, wavHeader } from '../audio/wav.ts'
import type { OutputOptions, Samples } from './audio-format.ts'
import { ReplacementFile } from './replacement-file.ts'

export interface WrittenFile {
  readonly samples: number
  readonly seconds: number
}

/**
 * Writes frames as they come into a 16-bit WAV file with true sizes, byte for byte what `encodeWav` makes of them; any
 * length takes the memory of one frame. The file appears, in place of an older one, when it is whole and on the disk:
 * after an error, an abort or `process.exit` there is nothing of it. A signal that nobody handles ends a process before
 * it can clear up, and leaves `.pocket-….part` beside the file.
 *
 * @throws PocketTtsError `write-failed` (a folder, a device, no such folder, not allowed, no space left),
 *   `invalid-audio` as soon as the samples exceed the 4 GiB of a WAV file (a day of speech), `invalid-option`; whatever
 *   the frames throw. Before it begins to iterate, it has made sure that it can write.
 */
export const writeWavFile = async (
  path: string | URL,
  frames: AsyncIterable<Samples>,
  { sampleRate = 24000 }: Pick<OutputOptions, 'sampleRate'> = {},
): Promise<WrittenFile> => {
  let samples = 0
  const placeholder = wavHeader(samples, sampleRate)
  const file = await ReplacementFile.create(typeof path === 'string' ? path : fileURLToPath(path))
  try {
    await file.append(placeholder)
    for await (const { pcm } of frames) {
      // Refuses what no header could say, before it is written.
      wavHeader(samples + pcm.length, sampleRate)
      await file.append(pcm16(pcm))
      samples += pcm.length
    }
    await file.finish(wavHeader(samples, sampleRate))
    return { samples, seconds: samples / sampleRate }
  } catch (error) {
    await file.discard()
    throw error
  }
}
