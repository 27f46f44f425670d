import type { Operations, Tensor } from '@pocket/nn'

/**
 * A step and the sampling of its latent, as a part of a recording of the caller's own: with a codec's pass behind it
 * a whole frame is one plan, and no value of it has to leave the executor.
 */
export interface FramePass {
  /**
   * Records the pass from the previous latent and scaled noise, both `[1, latentDim]`, and adds the inputs that
   * `constants` holds. Each run takes one position of the state that the pass was made for.
   */
  describe(ops: Operations, latent: Tensor, noise: Tensor): FrameTensors
  /** Values of the inputs that `describe` adds, to be written once. */
  readonly constants: Readonly<Record<string, Float32Array>>
  /** What stands for the previous latent at the beginning of speech: `[latentDim]` */
  readonly beginning: Float32Array
}

export interface FrameTensors {
  /** The latent as the flow head gives it, for the next frame: `[1, latentDim]` */
  readonly next: Tensor
  /** The same on the codec's scale, `next · latentStd + latentMean`. */
  readonly denormalized: Tensor
  /** The raw end-of-speech logit: `[1, 1]` */
  readonly eos: Tensor
}
