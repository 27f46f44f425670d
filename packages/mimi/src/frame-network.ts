import type { Operations, Tensor } from '@pocket/nn'
import type { StreamStates } from './stream-states.ts'

/** Names a value of the pass, and returns it. */
export type Tap = (name: string, x: Tensor) => Tensor

/** A network that takes one frame and gives one frame: either half of the codec. */
export interface FrameNetwork {
  readonly label: string
  /** One frame of input. */
  readonly input: { readonly name: string; readonly rows: number; readonly columns: number }
  /** The name of the result among the taps. */
  readonly output: string
  /** Records the pass of one frame and returns its result. */
  readonly describe: (ops: Operations, x: Tensor, states: StreamStates, tap: Tap) => Tensor
}
