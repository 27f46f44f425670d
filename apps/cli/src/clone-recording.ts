import type { PocketTts, Voice } from '@pocket/tts'
import type { Io } from './io.ts'
import { openRecording, readBeginning } from './open-recording.ts'
import { formatSeconds, type Progress } from './progress.ts'

/** Seconds of a recording that a voice is cloned from, as in the Python reference; more helps no further. */
export const usualSeconds = 30

/** The beginning of a recording of someone speaking, in memory. */
export interface Heard {
  /** How messages call the recording. */
  readonly label: string
  readonly samples: Float32Array
  readonly seconds: number
}

/** Reads it, so that a wrong file is told before a model is loaded. Throws InputError. */
export const hearRecording = async (
  path: string,
  mostSeconds: number,
  io: Pick<Io, 'stdin' | 'signal'>,
): Promise<Heard> => {
  const recording = await openRecording(path, io)
  const samples = await readBeginning(recording, mostSeconds)
  return { label: recording.label, samples, seconds: samples.length / 24000 }
}

/** The voice of who is heard. Throws as `PocketTts.cloneVoice` does. */
export const cloneHeard = async (
  tts: PocketTts,
  { label, samples, seconds }: Heard,
  signal: AbortSignal,
  progress: Progress,
): Promise<Voice> => {
  progress.working(`Listening to ${formatSeconds(seconds)} of ${label}`)
  return tts.cloneVoice(samples, { maxSeconds: seconds, signal })
}
