import type { OutputOptions, Samples } from './audio-format.ts'
import { EncodedFrames } from './encoded-frames.ts'

/**
 * Speech as bytes, for everything that takes a `ReadableStream`. Frames are made when they are read, whoever is slow
 * makes them wait, and none is kept: any length takes the memory of one frame. What goes wrong fails the stream;
 * cancelling it stops the generation.
 *
 * A WAV stream states no length and may go on beyond the 4 GiB of a WAV file.
 *
 * @throws PocketTtsError `invalid-option`
 */
export const toReadableStream = (
  frames: AsyncIterable<Samples>,
  options: OutputOptions = {},
): ReadableStream<Uint8Array> => streamOf(new EncodedFrames(frames, options))

/** `first` is a piece that was taken already. */
export const streamOf = (pieces: EncodedFrames, first?: Uint8Array): ReadableStream<Uint8Array> => {
  let taken = first
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = taken ?? (await pieces.next())
        taken = undefined
        if (piece) controller.enqueue(piece)
        else controller.close()
      },
      cancel: () => pieces.stop(),
    },
    // Nothing is made before somebody reads.
    { highWaterMark: 0 },
  )
}
