import { pcm16, wavHeader } from '@pocket/tts'
import type { Destination } from './destination.ts'
import { openReplacement } from './replacement.ts'

/** A WAV file with true sizes, which replaces an older one when it is whole. Rejects where it cannot be written. */
export const fileDestination = async (path: string, label: string): Promise<Destination> => {
  const { file, commit, discard } = await openReplacement(path)
  let rate = 0
  let samples = 0
  return {
    label,
    async begin(sampleRate) {
      rate = sampleRate
      await file.writeFile(wavHeader(0, rate)) // Holds the place of the true one.
    },
    async write(pcm) {
      await file.writeFile(pcm16(pcm)) // From the handle's position on: it appends.
      samples += pcm.length
    },
    async finish() {
      await file.write(wavHeader(samples, rate), { position: 0 })
      await commit()
    },
    discard,
  }
}
