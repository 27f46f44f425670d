import type { NdArray } from '@pocket/nn'
import type { MimiConfig } from './config.ts'
import type { FrameStream } from './frame-stream.ts'
import { checkLatents } from './input-checks.ts'

/**
 * Turns latents into sound, one stream of them: what it has decoded shapes what comes next. Made by
 * `MimiCodec.createDecoder`; decoders of one codec share its weights and nothing else. Calls queue.
 */
export class MimiDecoder {
  readonly #config: MimiConfig
  readonly #stream: FrameStream

  /** @internal */
  constructor(config: MimiConfig, stream: FrameStream) {
    this.#config = config
    this.#stream = stream
  }

  /**
   * Decodes the stream's next frames, in pieces of any number: frame by frame and all at once give the same sound.
   *
   * @param latents `[frames, latentDim]` row-major, de-normalised; copied at once, so that the array may be reused
   * @param frames how many frames that is, to have it checked
   * @param options with a `signal` that stops between two frames; the decoder then stands after those decoded
   * @returns `frames · frameSize` samples, mono, nominally within ±1 and not clipped
   * @throws MimiError `invalid-input` (no Float32Array, no whole frames, other than `frames`, NaN or infinity) or
   *   `disposed`, before any work; the signal's reason
   */
  async decode(
    latents: Float32Array,
    frames?: number,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Float32Array> {
    this.#stream.checkAlive()
    checkLatents(latents, this.#config.latentDim, frames)
    return this.#stream.run(latents, { signal: options.signal })
  }

  /**
   * Begins to decode the stream's next frame. On an executor with several threads it goes on by itself; what is computed
   * meanwhile, such as the next latent, is computed beside it. Give the frame an end before the stream's end.
   *
   * @param latent `[latentDim]`, as for `decode`
   * @returns a function that ends the frame and gives its samples, as `decode` would have
   * @throws MimiError as `decode` does; the function, `disposed`
   */
  async begin(latent: Float32Array): Promise<() => Promise<Float32Array>> {
    this.#stream.checkAlive()
    checkLatents(latent, this.#config.latentDim, 1)
    return this.#stream.begin(latent)
  }

  /** Begins a new stream, after the calls already made. */
  reset(): void {
    this.#stream.reset()
  }

  /**
   * A value inside the network, of the frame decoded last: `quantizer` `[dModel, 1]`, `upsample` and `transformer`
   * `[dModel, 16]`, `model.I` (module I of the SEANet; ELUs count but have no tap), `pcm` `[1, frameSize]`.
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
}
