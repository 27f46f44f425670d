import type { Checkpoint, Convolution, Operations, Tensor, TransposedConvolution } from '@pocket/nn'
import {
  type ConvolutionSizes,
  loadConvolution,
  loadTransposedConvolution,
  type WeightKernels,
} from './convolution.ts'
import type { Tap } from './frame-network.ts'
import { loadResidualBlock, type ResidualBlock, residualBlock } from './residual-block.ts'
import type { StreamStates } from './stream-states.ts'

/**
 * One module of a SEANet, encoder or decoder. `index` is its place in the reference's `model` list, which counts the
 * ELU before every convolution but the first; the checkpoint and the taps go by it.
 */
export type SeanetModule = { readonly index: number } & (
  | { readonly kind: 'convolution'; readonly weights: Convolution }
  | { readonly kind: 'transposedConvolution'; readonly weights: TransposedConvolution }
  | { readonly kind: 'residualBlock'; readonly block: ResidualBlock }
)

/** `x` `[time, channels]` through all modules, each output named `model.<index>`. */
export const seanet = (
  ops: Operations,
  x: Tensor,
  modules: readonly SeanetModule[],
  states: StreamStates,
  tap: Tap,
): Tensor => modules.reduce((x, module) => tap(`model.${module.index}`, runModule(ops, x, module, states)), x)

const runModule = (ops: Operations, x: Tensor, module: SeanetModule, states: StreamStates): Tensor => {
  const inputActivation = module.index === 0 ? 'none' : 'elu'
  switch (module.kind) {
    case 'convolution':
      return ops.convolution(x, module.weights, states.convolution(module.weights), { inputActivation })
    case 'transposedConvolution':
      return ops.transposedConvolution(x, module.weights, states.convolution(module.weights), {
        inputActivation,
      })
    case 'residualBlock':
      return residualBlock(ops, x, module.block, states)
    default:
      return module satisfies never
  }
}

/** Loads a SEANet module by module; each takes the channels that the one before it gives. */
export class SeanetLoader {
  readonly modules: SeanetModule[] = []
  readonly #checkpoint: Checkpoint
  readonly #kernels: WeightKernels
  readonly #prefix: string
  #channels: number

  constructor(checkpoint: Checkpoint, kernels: WeightKernels, prefix: string, inputChannels: number) {
    this.#checkpoint = checkpoint
    this.#kernels = kernels
    this.#prefix = prefix
    this.#channels = inputChannels
  }

  async convolution(index: number, sizes: Omit<ConvolutionSizes, 'inputs'> = {}): Promise<void> {
    const weights = await loadConvolution(this.#checkpoint, this.#kernels, this.#prefix + index, {
      inputs: this.#channels,
      ...sizes,
    })
    this.#channels = weights.outputChannels
    this.modules.push({ kind: 'convolution', index, weights })
  }

  async transposedConvolution(index: number, stride: number): Promise<void> {
    const weights = await loadTransposedConvolution(this.#checkpoint, this.#kernels, this.#prefix + index, {
      inputs: this.#channels,
      stride,
    })
    this.#channels = weights.outputChannels
    this.modules.push({ kind: 'transposedConvolution', index, weights })
  }

  async residualBlock(index: number): Promise<void> {
    const module = this.#prefix + index
    const block = await loadResidualBlock(this.#checkpoint, this.#kernels, module, this.#channels)
    this.modules.push({ kind: 'residualBlock', index, block })
  }
}
