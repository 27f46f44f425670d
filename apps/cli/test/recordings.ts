import { writeFileSync } from 'node:fs'
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'

/** The embedded model, in this process: what the command makes is compared with what it makes. */
export const tts = await PocketTts.load(mini)

/** Speech of the embedded model, of no whole number of frames; samples as a WAV file has them. */
export const speech: Float32Array = (
  await tts.generate('Good morning. It is a fine day.', { voice: 'slt', seed: 5 })
)
  .subarray(0, 40_001)
  .map((sample) => Math.trunc(Math.fround(Math.max(-1, Math.min(1, sample)) * 32767)) / 32768)

/** Writes samples of the form i / 32768 into a WAV file that gives them back. */
export const writeRecording = (path: string, samples: Float32Array): void =>
  writeFileSync(
    path,
    // encodeWav scales by 32767 and truncates: half a step away from zero comes out as the step itself.
    encodeWav(samples.map((sample) => (sample * 32768 + 0.5 * Math.sign(sample)) / 32767)),
  )
