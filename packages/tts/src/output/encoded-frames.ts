import { createEncoder, type Encoder, type OutputOptions, type Samples } from './audio-format.ts'

/**
 * Frames as bytes, one piece a frame, none made ahead of its reader. The header comes with the first samples, so that
 * an error before those comes before any bytes.
 */
export class EncodedFrames {
  readonly #frames: AsyncIterator<Samples>
  readonly #encoder: Encoder
  #hasHeader = false

  /** Throws PocketTtsError `invalid-option`. */
  constructor(frames: AsyncIterable<Samples>, options: OutputOptions) {
    this.#encoder = createEncoder(options)
    this.#frames = frames[Symbol.asyncIterator]()
  }

  get contentType(): string {
    return this.#encoder.contentType
  }

  /** The next piece; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { done, value } = await this.#frames.next()
      const piece = this.#withHeader(this.#encoder.encode(done ? noSamples : value.pcm))
      // The frame that says that the last one was the last may have no samples.
      if (piece.length > 0) return piece
      if (done) return undefined
    }
  }

  /** Stops whatever makes the frames, even while it waits. */
  async stop(): Promise<void> {
    await this.#frames.return?.()
  }

  #withHeader(samples: Uint8Array): Uint8Array {
    if (this.#hasHeader) return samples
    this.#hasHeader = true
    const { header } = this.#encoder
    const piece = new Uint8Array(header.length + samples.length)
    piece.set(header)
    piece.set(samples, header.length)
    return piece
  }
}

const noSamples = new Float32Array(0)
