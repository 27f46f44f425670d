import { type NdArray, ndArray } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import { MimiError } from './errors.ts'
import type { FrameStream } from './frame-stream.ts'
import { checkSamples } from './input-checks.ts'
import { SampleBuffer } from './sample-buffer.ts'

/**
 * Turns sound into latents while it comes in. Made by `MimiCodec.createEncoder`; encoders of one codec share its
 * weights and nothing else. Calls queue.
 */
export class MimiEncoder {
  readonly #config: MimiConfig
  /** Calls go on in the order in which they came to wait for it. */
  readonly #stream: Promise<FrameStream>
  readonly #samples: SampleBuffer
  #disposed = false

  /** @internal */
  constructor(config: MimiConfig, stream: Promise<FrameStream>) {
    this.#config = config
    this.#stream = stream
    this.#samples = new SampleBuffer(config.frameSize)
    // Whoever encodes hears of a failure.
    stream.catch(() => {})
  }

  /**
   * Takes the stream's next samples, in pieces of any length, and encodes the frames that they complete; the rest
   * waits for more. Pieces and the whole give the same latents.
   *
   * @param pcm mono samples at 24 kHz, copied at once
   * @returns `[frames, innerDim]` row-major: the latents of the frames completed, often of none
   * @throws MimiError `invalid-input` (no Float32Array, NaN or infinity) or `disposed`, before any work; what reading
   *   the encoder throws, where it was left for later
   */
  async encode(pcm: Float32Array): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    checkSamples(pcm)
    return this.#run(this.#samples.push(pcm))
  }

  /**
   * Ends the stream: encodes the samples that wait, padded with zeros to a frame, and begins a new stream.
   *
   * @returns `[frames, innerDim]` with one frame, or none where no samples waited
   * @throws MimiError `disposed`
   */
  async flush(): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    const latents = this.#run(this.#samples.flush())
    this.#afterCalls((stream) => stream.reset())
    return latents
  }

  /** Begins a new stream, after the calls already made; samples that wait are dropped. */
  reset(): void {
    this.#checkAlive()
    this.#afterCalls((stream) => stream.reset())
    this.#samples.clear()
  }

  /**
   * A value inside the network, of the frame encoded last: `model.I` (module I of the SEANet; ELUs count but have no
   * tap), `encoder` (the SEANet's output) and `transformer`, both `[dModel, 16]`, `latent` `[innerDim, 1]`.
   *
   * @returns `[channels, time]`, row-major, a copy
   * @throws MimiError `unknown-tap` (lists the known ones), `no-frame` or `disposed`
   */
  async tap(name: string): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    return (await this.#stream).tap(name)
  }

  /** Gives the stream's memory back. Calls that still wait are refused; the codec stays usable. */
  dispose(): void {
    this.#disposed = true
    this.#afterCalls((stream) => stream.dispose())
  }

  async #run(frames: Float32Array): Promise<NdArray<Float32Array>> {
    const data = await (await this.#stream).run(frames)
    const { innerDim } = this.#config
    return ndArray(data, [data.length / innerDim, innerDim])
  }

  /** Where there is no stream, there is nothing to do either. */
  #afterCalls(act: (stream: FrameStream) => void): void {
    this.#stream.then(act).catch(() => {})
  }

  #checkAlive(): void {
    if (this.#disposed) throw new MimiError('disposed', 'this mimi encoder was disposed; make another')
  }
}
