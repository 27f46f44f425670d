import { type NdArray, ndArray } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { FrameStream } from './frame-stream.ts'
import { checkSamples } from './input-checks.ts'
import { SampleBuffer } from './sample-buffer.ts'

/**
 * Turns sound into latents while it comes in. Made by `MimiCodec.createEncoder`; encoders of one codec share its
 * weights and nothing else. Calls queue.
 */
export class MimiEncoder {
  readonly #config: MimiConfig
  readonly #stream: FrameStream
  readonly #samples: SampleBuffer

  /** @internal */
  constructor(config: MimiConfig, stream: FrameStream) {
    this.#config = config
    this.#stream = stream
    this.#samples = new SampleBuffer(config.frameSize)
  }

  /**
   * Takes the stream's next samples, in pieces of any length, and encodes the frames that they complete; the rest
   * waits for more. Pieces and the whole give the same latents.
   *
   * @param pcm mono samples at 24 kHz, copied at once
   * @returns `[frames, innerDim]` row-major: the latents of the frames completed, often of none
   * @throws MimiError `invalid-input` (no Float32Array, NaN or infinity) or `disposed`, before any work
   */
  async encode(pcm: Float32Array): Promise<NdArray<Float32Array>> {
    this.#stream.checkAlive()
    checkSamples(pcm)
    return this.#latents(this.#stream.run(this.#samples.push(pcm)))
  }

  /**
   * Ends the stream: encodes the samples that wait, padded with zeros to a frame, and begins a new stream.
   *
   * @returns `[frames, innerDim]` with one frame, or none where no samples waited
   * @throws MimiError `disposed`
   */
  async flush(): Promise<NdArray<Float32Array>> {
    this.#stream.checkAlive()
    const latents = this.#latents(this.#stream.run(this.#samples.flush()))
    this.#stream.reset()
    return latents
  }

  /** Begins a new stream, after the calls already made; samples that wait are dropped. */
  reset(): void {
    this.#stream.reset()
    this.#samples.clear()
  }

  /**
   * A value inside the network, of the frame encoded last: `model.I` (module I of the SEANet; ELUs count but have no
   * tap), `encoder` (the SEANet's output) and `transformer`, both `[dModel, 16]`, `latent` `[innerDim, 1]`.
   *
   * @returns `[channels, time]`, row-major, a copy
   * @throws MimiError `unknown-tap` (lists the known ones), `no-frame` or `disposed`
   */
  tap(name: string): Promise<NdArray<Float32Array>> {
    return this.#stream.tap(name)
  }

  /** Gives the stream's memory back. Calls that still wait are refused; the codec stays usable. */
  dispose(): void {
    this.#stream.dispose()
  }

  async #latents(values: Promise<Float32Array>): Promise<NdArray<Float32Array>> {
    const data = await values
    const { innerDim } = this.#config
    return ndArray(data, [data.length / innerDim, innerDim])
  }
}
