import type { CheckpointProblem } from '@pocket/nn'

export type FlowLmErrorCode =
  /** `missing-tensor`, `wrong-shape`, `wrong-dtype`: the weights are not those of a FlowLM. */
  | CheckpointProblem
  /** What the caller says of the model contradicts its tensors, or cannot be. */
  | 'config'
  /** A precision that there is not. */
  | 'unavailable'
  /** More positions than the state has reserved. */
  | 'capacity'
  /** A KV snapshot of another model, or one whose parts do not fit together. */
  | 'snapshot'
  /** A token id outside the vocabulary. */
  | 'token'
  /** Values of a wrong number, or not finite. */
  | 'input'
  /** A number of LSD steps that cannot be. */
  | 'steps'
  /** A tap that the last pass does not have. */
  | 'tap'
  /** A state that another FlowLm made. */
  | 'state'
  /** A state used after `dispose`. */
  | 'disposed'
  /** The checkpoint has no `speaker_proj_weight`: it cannot make a voice from audio. */
  | 'no-speaker-projection'

/** Wrong weights or wrong input, found before any work is done. */
export class FlowLmError extends Error {
  override readonly name = 'FlowLmError'
  readonly code: FlowLmErrorCode

  constructor(code: FlowLmErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
