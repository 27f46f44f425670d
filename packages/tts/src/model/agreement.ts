import type { WeightReader } from '@pocket/nn'
import { PocketTtsError } from '../errors.ts'
import type { ConfigFile } from './config-schema.ts'

/** A value of a config file, and the same thing as the tensors have it. */
interface Claim {
  readonly key: string
  readonly claimed: number | readonly number[] | undefined
  /** The tensor that knows better; the claim stands where the checkpoint lacks it. */
  readonly tensor: string
  readonly actual: (shape: readonly number[]) => number | readonly number[]
}

/**
 * Compares a config file with the weights it comes with: sizes are what the tensors say, and a file that says
 * something else belongs to another model. Throws PocketTtsError `invalid-model`, naming key and tensor.
 */
export const checkAgreement = (file: ConfigFile, weights: WeightReader, where: string): void => {
  for (const { key, claimed, tensor, actual } of [
    ...flowLmClaims(file, weights),
    ...mimiClaims(file, weights),
  ]) {
    if (claimed === undefined || !weights.has(tensor)) continue
    const { shape } = weights.info(tensor)
    const found = actual(shape)
    if (String(claimed) === String(found)) continue
    throw new PocketTtsError(
      'invalid-model',
      `${where} says ${key} ${claimed}, but ${tensor} [${shape.join(', ')}] says ${found}: ` +
        'config and weights belong to two models',
    )
  }
  refuseUnsupported(file, where)
}

const axis =
  (index: number) =>
  (shape: readonly number[]): number =>
    shape[index] ?? 0

const flowLmClaims = ({ flow_lm = {} }: ConfigFile, weights: WeightReader): Claim[] => {
  const { flow = {}, transformer = {}, lookup_table = {} } = flow_lm
  const embedding = 'flow_lm.conditioner.embed.weight'
  const feedForward = 'flow_lm.transformer.layers.0.linear1.weight'
  const layers = counted(weights, (n) => `flow_lm.transformer.layers.${n}.linear1.weight`)
  const blocks = counted(weights, (n) => `flow_lm.flow_net.res_blocks.${n}.mlp.0.weight`)
  return [
    {
      key: 'flow_lm.lookup_table.n_bins',
      claimed: lookup_table.n_bins,
      tensor: embedding,
      // One row more than pieces, for padding.
      actual: ([rows = 0]) => rows - 1,
    },
    { key: 'flow_lm.lookup_table.dim', claimed: lookup_table.dim, tensor: embedding, actual: axis(1) },
    { key: 'flow_lm.transformer.d_model', claimed: transformer.d_model, tensor: embedding, actual: axis(1) },
    {
      key: 'flow_lm.transformer.hidden_scale',
      claimed: transformer.hidden_scale,
      tensor: feedForward,
      actual: ([inner = 0, width = 1]) => inner / width,
    },
    { key: 'flow_lm.transformer.num_layers', claimed: transformer.num_layers, ...layers },
    {
      key: 'flow_lm.flow.dim',
      claimed: flow.dim,
      tensor: 'flow_lm.flow_net.input_proj.weight',
      actual: axis(0),
    },
    { key: 'flow_lm.flow.depth', claimed: flow.depth, ...blocks },
  ]
}

const mimiClaims = ({ mimi = {} }: ConfigFile, weights: WeightReader): Claim[] => {
  const { seanet = {}, transformer = {}, quantizer = {} } = mimi
  const stages = stageKernels(weights)
  // The reference numbers ELUs too: 0 conv, then for each stage ELU, transposed conv, residual unit; ELU, conv.
  const first = 'mimi.decoder.model.0.conv.weight'
  const last = `mimi.decoder.model.${3 * stages.length + 2}.conv.weight`
  const residual = 'mimi.decoder.model.3.block.1.conv.weight'
  const layer = (n: number): string => `mimi.decoder_transformer.transformer.layers.${n}.linear1.weight`
  const layers = counted(weights, layer)
  const projection = 'mimi.quantizer.output_proj.weight'
  return [
    {
      key: 'mimi.inner_dim',
      claimed: mimi.inner_dim,
      tensor: 'mimi.downsample.conv.conv.weight',
      actual: axis(0),
    },
    {
      key: 'mimi.outer_dim',
      claimed: mimi.outer_dim,
      tensor: 'mimi.upsample.convtr.convtr.weight',
      actual: axis(0),
    },
    { key: 'mimi.channels', claimed: mimi.channels, tensor: last, actual: axis(0) },
    { key: 'mimi.seanet.channels', claimed: seanet.channels, tensor: last, actual: axis(0) },
    { key: 'mimi.seanet.dimension', claimed: seanet.dimension, tensor: first, actual: axis(1) },
    { key: 'mimi.seanet.kernel_size', claimed: seanet.kernel_size, tensor: first, actual: axis(2) },
    { key: 'mimi.seanet.last_kernel_size', claimed: seanet.last_kernel_size, tensor: last, actual: axis(2) },
    { key: 'mimi.seanet.n_filters', claimed: seanet.n_filters, tensor: last, actual: axis(1) },
    {
      key: 'mimi.seanet.residual_kernel_size',
      claimed: seanet.residual_kernel_size,
      tensor: residual,
      actual: axis(2),
    },
    {
      key: 'mimi.seanet.compress',
      claimed: seanet.compress,
      tensor: residual,
      actual: ([hidden = 1, channels = 0]) => channels / hidden,
    },
    {
      key: 'mimi.seanet.ratios',
      claimed: seanet.ratios,
      tensor: 'mimi.decoder.model.2.convtr.weight',
      actual: () => stages.map((kernel) => kernel / 2),
    },
    { key: 'mimi.transformer.d_model', claimed: transformer.d_model, tensor: layer(0), actual: axis(1) },
    {
      key: 'mimi.transformer.dim_feedforward',
      claimed: transformer.dim_feedforward,
      tensor: layer(0),
      actual: axis(0),
    },
    { key: 'mimi.transformer.num_layers', claimed: transformer.num_layers, ...layers },
    { key: 'mimi.quantizer.dimension', claimed: quantizer.dimension, tensor: projection, actual: axis(1) },
    {
      key: 'mimi.quantizer.output_dimension',
      claimed: quantizer.output_dimension,
      tensor: projection,
      actual: axis(0),
    },
  ]
}

/** Kernels of the SEANet decoder's transposed convolutions, twice its ratios. */
const stageKernels = (weights: WeightReader): number[] => {
  const kernels: number[] = []
  for (;;) {
    const name = `mimi.decoder.model.${2 + 3 * kernels.length}.convtr.weight`
    if (!weights.has(name)) return kernels
    kernels.push(weights.info(name).shape[2] ?? 0)
  }
}

/** The last of a run of numbered tensors says how many there are. */
const counted = (
  weights: WeightReader,
  nameOf: (index: number) => string,
): Pick<Claim, 'tensor' | 'actual'> => {
  let count = 0
  while (weights.has(nameOf(count))) count++
  return { tensor: nameOf(Math.max(0, count - 1)), actual: () => count }
}

/** What neither shapes nor this implementation leave open. */
const refuseUnsupported = ({ flow_lm, mimi }: ConfigFile, where: string): void => {
  const fixed = [
    ['mimi.sample_rate', mimi?.sample_rate, 24000],
    ['mimi.seanet.n_residual_layers', mimi?.seanet?.n_residual_layers, 1],
    ['mimi.seanet.pad_mode', mimi?.seanet?.pad_mode, 'constant'],
    ['flow_lm.lookup_table.tokenizer', flow_lm?.lookup_table?.tokenizer, 'sentencepiece'],
  ] as const
  for (const [key, claimed, supported] of fixed) {
    if (claimed === undefined || claimed === supported) continue
    throw new PocketTtsError(
      'unsupported',
      `${where} says ${key} ${claimed}; only ${supported} is implemented`,
    )
  }
}
