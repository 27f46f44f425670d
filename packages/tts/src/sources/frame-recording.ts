import type { FlowLm, FlowState } from '@pocket/flowlm'
import type { DecoderPass, MimiCodec } from '@pocket/mimi'
import { type Recording, record } from '@pocket/nn'

/** A whole frame as one plan, and what its inputs hold before the first. */
export interface FrameRecording {
  /**
   * Inputs `latent` (the previous one) and scaled `noise`, both `[1, latentDim]`, and those of `initial`; taps `next`
   * `[1, latentDim]`, the latent for the next run, `eos` `[1, 1]` and `pcm` `[frameSize, 1]`.
   */
  readonly recording: Recording
  /** What to write at the beginning of a chunk: `latent`, and constants. */
  readonly initial: Readonly<Record<string, Float32Array>>
}

/**
 * From the previous latent to 80 ms of sound: both networks, and the denormalisation between them, in one recording,
 * for models whose networks share an executor. A run advances `state` and the decoder's stream by one frame.
 */
export const recordFrame = (
  { flowLm, codec }: { readonly flowLm: FlowLm; readonly codec: MimiCodec },
  state: FlowState,
  decoder: DecoderPass,
  lsdSteps: number,
): FrameRecording => {
  const pass = flowLm.framePass(state, lsdSteps)
  const { latentDim } = codec.config
  const recording = record(`frame of ${lsdSteps} LSD steps`, (ops) => {
    const latent = ops.input('latent', 1, latentDim)
    const { next, eos, denormalized } = pass.describe(ops, latent, ops.input('noise', 1, latentDim))
    ops.tap('next', next)
    ops.tap('eos', eos)
    ops.tap('pcm', decoder.describe(ops, denormalized))
  })
  return { recording, initial: { ...pass.constants, latent: pass.beginning } }
}
