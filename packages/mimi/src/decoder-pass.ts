import type { Operations, Tensor } from '@pocket/nn'
import type { FrameNetwork } from './frame-network.ts'
import type { StreamStates } from './stream-states.ts'

/**
 * The decoding of one frame as a part of a recording of the caller's own: behind a network that makes latents, a frame
 * is one plan from there to the samples. Made by `MimiCodec.createDecoderPass`, with the states of one stream.
 */
export class DecoderPass {
  readonly #network: FrameNetwork
  readonly #states: StreamStates

  /** @internal */
  constructor(network: FrameNetwork, states: StreamStates) {
    this.#network = network
    this.#states = states
  }

  /**
   * Records the pass from a de-normalised latent `[1, latentDim]` to samples `[frameSize, 1]`. Each run is the next
   * frame of the stream. The recording runs on the executor that the codec was loaded with.
   */
  describe(ops: Operations, latent: Tensor): Tensor {
    return this.#network.describe(ops, latent, this.#states, (_, x) => x)
  }

  /** Back to the beginning of a stream; with a lane, of that lane's on an executor that has lanes. */
  reset(lane?: number): void {
    this.#states.reset(lane)
  }

  /** Gives the stream's memory back; plans that use it must not run any more. */
  dispose(): void {
    this.#states.dispose()
  }
}
