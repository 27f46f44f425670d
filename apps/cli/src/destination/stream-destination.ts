import { pcm16, wavHeader } from '@pocket/tts'
import { type Output, write } from '../io.ts'
import type { Destination } from './destination.ts'

/** A WAV stream of unknown length: a player starts at once and reads to the end. */
export const streamDestination = (output: Output, label: string): Destination => ({
  label,
  begin: (sampleRate) => write(output, wavHeader('unknown', sampleRate)),
  write: (samples) => write(output, pcm16(samples)),
  finish: async () => {},
  discard: async () => {},
})
