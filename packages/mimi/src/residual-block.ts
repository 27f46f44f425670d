import type { Checkpoint, Convolution, Operations, Tensor } from '@pocket/nn'
import { loadConvolution, type WeightKernels } from './convolution.ts'
import type { StreamStates } from './stream-states.ts'

/** SEANet's residual unit, `x + conv₁(elu(conv₃(elu(x))))`: the second convolution sees one step at a time. */
export interface ResidualBlock {
  readonly over3: Convolution
  readonly over1: Convolution
}

/** The reference's `block` is ELU, convolution, ELU, convolution. */
export const loadResidualBlock = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  module: string,
  channels: number,
): Promise<ResidualBlock> => {
  const over3 = await loadConvolution(checkpoint, kernels, `${module}.block.1`, { inputs: channels })
  const over1 = await loadConvolution(checkpoint, kernels, `${module}.block.3`, {
    inputs: over3.outputChannels,
    outputs: channels,
    kernel: 1,
  })
  return { over3, over1 }
}

/** `x` and the result are `[time, channels]`. */
export const residualBlock = (
  ops: Operations,
  x: Tensor,
  { over3, over1 }: ResidualBlock,
  states: StreamStates,
): Tensor => {
  const hidden = ops.convolution(x, over3, states.convolution(over3), { inputActivation: 'elu' })
  return ops.convolution(hidden, over1, states.convolution(over1), { inputActivation: 'elu', residual: x })
}
