import { PocketTtsError, WavDecoder } from '@pocket/tts'
import { concatenate } from './concatenate.ts'
import { InputError } from './errors.ts'
import type { Io } from './io.ts'
import { type Input, openInput } from './open-input.ts'

/** A recording, read piece by piece. */
export interface Recording {
  /** How messages call it. */
  readonly label: string
  /** Samples at 24 kHz, mono. Can be read once. */
  readonly pieces: AsyncIterable<Float32Array>
  /** How much of the file has been read, 0 to 1; undefined where that is not known. */
  readonly share: number | undefined
  /** Needed where the pieces are not read to their end. */
  close(): void
}

/**
 * Opens a WAV file of 24 kHz, one channel, 16 bits, or standard input for `-`. What it is has been looked at when
 * this resolves: anything else throws InputError, naming what was found.
 */
export const openRecording = async (path: string, io: Pick<Io, 'stdin' | 'signal'>): Promise<Recording> => {
  const input = await openInput(path, io)
  const progress = { bytes: 0 }
  const pieces = readSamples(input, progress)
  const first = await pieces.next()
  return {
    label: input.label,
    pieces: resume(first, pieces),
    get share() {
      return input.size ? progress.bytes / input.size : undefined
    },
    close: () => input.close(),
  }
}

async function* readSamples(
  { label, pieces }: Input,
  progress: { bytes: number },
): AsyncGenerator<Float32Array, void, void> {
  const decoder = new WavDecoder()
  try {
    for await (const piece of pieces) {
      progress.bytes += piece.length
      const samples = decoder.push(piece)
      if (samples.length > 0) yield samples
    }
    decoder.finish()
  } catch (cause) {
    if (!(cause instanceof PocketTtsError)) throw cause
    throw new InputError(`${label}: ${cause.message}`, { cause })
  }
}

async function* resume<Item>(
  first: IteratorResult<Item, void>,
  rest: AsyncIterable<Item>,
): AsyncGenerator<Item, void, void> {
  if (!first.done) yield first.value
  yield* rest
}

/** The recording's first seconds, all in memory; the rest is not read. */
export const readBeginning = async (recording: Recording, seconds: number): Promise<Float32Array> => {
  const pieces: Float32Array[] = []
  let missing = Math.ceil(seconds * 24000)
  for await (const piece of recording.pieces) {
    pieces.push(piece.subarray(0, missing))
    missing -= Math.min(missing, piece.length)
    if (missing === 0) break
  }
  recording.close()
  return concatenate(pieces)
}
