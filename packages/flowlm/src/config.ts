import type { Checkpoint } from '@pocket/nn'
import { FlowLmError } from './errors.ts'

/** The sizes of a FlowLM, read off its tensors' shapes where nothing else is said. */
export interface FlowLmConfig {
  /** Token ids run from 0 to here, this one excluded. The embedding has one row more, for padding. */
  readonly vocabularySize: number
  /** Width of the backbone. */
  readonly dModel: number
  readonly layers: number
  /** Attention heads. Not in the shapes: `dModel / 64` unless given. */
  readonly heads: number
  /** `dModel / heads` */
  readonly headDim: number
  /** Inner width of the feed-forward part of layer 0. */
  readonly feedForward: number
  /** Values of a latent: one audio frame of 80 ms. */
  readonly latentDim: number
  /** Width of the flow head. */
  readonly flowDim: number
  /** Residual blocks of the flow head. */
  readonly flowDepth: number
  /** Width of the sinusoidal timestep embedding, cosines and sines together. */
  readonly timeEmbeddingDim: number
  /** Columns of the speaker projection: the width of the latents that a voice is made from. */
  readonly innerDim: number | undefined
  /** Longest period of the rotary embedding, in positions × 2π. Not in the shapes: 10000 unless given. */
  readonly maxPeriod: number
  /** Whether a voice prompt begins with the row `bos_before_voice`. True where the tensor exists, unless given. */
  readonly insertBosBeforeVoice: boolean
}

/** Head width of every published checkpoint. */
const usualHeadDim = 64

/** The reference's `max_period`, in every published config. */
const usualMaxPeriod = 10000

/**
 * The config of a checkpoint. `claims` is what a config file says: it decides what shapes cannot say and must agree
 * with them everywhere else. Throws FlowLmError `missing-tensor`, `wrong-shape` or `config`.
 */
export const readConfig = (checkpoint: Checkpoint, claims: Partial<FlowLmConfig> = {}): FlowLmConfig => {
  const shapes = readShapes(checkpoint)
  const {
    heads = shapes.dModel / usualHeadDim,
    maxPeriod = usualMaxPeriod,
    insertBosBeforeVoice = hasBosBeforeVoice(checkpoint),
  } = claims
  const config = { ...shapes, heads, headDim: shapes.dModel / heads, maxPeriod, insertBosBeforeVoice }

  refuseContradictions(config, claims)
  if (!isPositiveInteger(heads) || !isPositiveInteger(config.headDim / 2)) {
    throw new FlowLmError(
      'config',
      `${heads} heads for a width of ${shapes.dModel}: expected heads of a whole, even width; pass config.heads`,
    )
  }
  if (!(maxPeriod > 0 && Number.isFinite(maxPeriod))) {
    throw new FlowLmError('config', `maxPeriod is ${maxPeriod}, expected a positive number`)
  }
  if (insertBosBeforeVoice && !hasBosBeforeVoice(checkpoint)) {
    throw new FlowLmError(
      'config',
      'insertBosBeforeVoice is true, but the checkpoint has no tensor bos_before_voice: leave it out, or load a ' +
        'checkpoint that has the tensor',
    )
  }
  return config
}

export const hasBosBeforeVoice = (checkpoint: Checkpoint): boolean => checkpoint.has('bos_before_voice')

export const hasSpeakerProjection = (checkpoint: Checkpoint): boolean => checkpoint.has('speaker_proj_weight')

type Shapes = Omit<FlowLmConfig, 'heads' | 'headDim' | 'maxPeriod' | 'insertBosBeforeVoice'>

const readShapes = (checkpoint: Checkpoint): Shapes => {
  const size = (name: string, rank: number, axis: number): number => {
    const found = checkpoint.shape(name, rank)[axis]
    if (found) return found
    throw new FlowLmError('wrong-shape', `${name} has no values along axis ${axis}`)
  }
  const embeddingRows = size('conditioner.embed.weight', 2, 0)
  const shapes = {
    vocabularySize: embeddingRows - 1,
    dModel: size('conditioner.embed.weight', 2, 1),
    layers: countParts(checkpoint, 'transformer.layers.', 'linear1.weight', 'norm1.weight'),
    feedForward: size('transformer.layers.0.linear1.weight', 2, 0),
    latentDim: size('bos_emb', 1, 0),
    flowDim: size('flow_net.input_proj.weight', 2, 0),
    flowDepth: countParts(checkpoint, 'flow_net.res_blocks.', 'mlp.0.weight', 'in_ln.weight'),
    timeEmbeddingDim: 2 * size('flow_net.time_embed.0.freqs', 1, 0),
    innerDim: hasSpeakerProjection(checkpoint) ? size('speaker_proj_weight', 2, 1) : undefined,
  }
  if (shapes.vocabularySize > 0) return shapes
  throw new FlowLmError(
    'wrong-shape',
    'conditioner.embed.weight has one row, expected a vocabulary and a padding row',
  )
}

/**
 * Counts the parts `<prefix>0`, `<prefix>1`, … that have the tensor `marker`. The count ends where a part lacks it:
 * when that part has `other`, or the part after it is there, the checkpoint is damaged and not shorter.
 */
const countParts = (checkpoint: Checkpoint, prefix: string, marker: string, other: string): number => {
  const has = (part: number, name: string): boolean => checkpoint.has(`${prefix}${part}.${name}`)
  let count = 0
  while (has(count, marker)) count++
  const damaged = count === 0 || has(count, other) || has(count + 1, marker)
  if (damaged) checkpoint.shape(`${prefix}${count}.${marker}`)
  return count
}

const refuseContradictions = (config: FlowLmConfig, claims: Partial<FlowLmConfig>): void => {
  for (const key of Object.keys(claims) as (keyof FlowLmConfig)[]) {
    const claimed = claims[key]
    if (claimed === undefined || claimed === config[key]) continue
    throw new FlowLmError(
      'config',
      `the config says ${key} ${claimed}, the checkpoint's tensors say ${config[key]}: they belong to two models`,
    )
  }
}

const isPositiveInteger = (value: number): boolean => Number.isSafeInteger(value) && value > 0
