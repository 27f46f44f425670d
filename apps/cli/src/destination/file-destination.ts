import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { pcm16, wavHeader } from '@pocket/tts'
import type { Destination } from './destination.ts'

/**
 * A WAV file with true sizes. Samples go to a temporary file in the same folder as they come, and that file gets
 * the name at the end: at no moment does a partial file bear it. Rejects where the folder cannot be written to.
 */
export const fileDestination = async (path: string, label: string): Promise<Destination> => {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  const file = await open(temporary, 'w')
  let rate = 0
  let samples = 0
  let isDone = false
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
      await file.close()
      await rename(temporary, path)
      isDone = true
    },
    async discard() {
      if (isDone) return
      isDone = true
      await file.close()
      await rm(temporary, { force: true })
    },
  }
}
