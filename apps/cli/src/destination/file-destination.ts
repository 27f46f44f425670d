import { pcm16, wavHeader } from '@pocket/tts'
import { ReplacementFile } from '@pocket/tts/node'
import type { Destination } from './destination.ts'

/** A WAV file with true sizes, which replaces an older one when it is whole. Rejects where it cannot be written. */
export const fileDestination = async (path: string, label: string): Promise<Destination> => {
  const file = await ReplacementFile.create(path)
  let rate = 0
  let samples = 0
  return {
    label,
    async begin(sampleRate) {
      rate = sampleRate
      await file.append(wavHeader(0, rate)) // Holds the place of the true one.
    },
    async write(pcm) {
      await file.append(pcm16(pcm))
      samples += pcm.length
    },
    finish: () => file.finish(wavHeader(samples, rate)),
    discard: () => file.discard(),
  }
}
