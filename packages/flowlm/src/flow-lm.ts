import {
  Checkpoint,
  type Kernels,
  type Matrix,
  type NdArray,
  type Precision,
  type WeightReader,
} from '@pocket/nn'
import { type Backbone, loadBackbone } from './backbone.ts'
import { type FlowLmConfig, hasBosBeforeVoice, hasSpeakerProjection, readConfig } from './config.ts'
import { denormalization } from './denormalization.ts'
import { EmbeddingTable } from './embedding-table.ts'
import { FlowLmError } from './errors.ts'
import { loadFlowHead } from './flow-head.ts'
import { BackboneState, type FlowState, type FlowStateOptions } from './flow-state.ts'
import type { FramePass } from './frame-pass.ts'
import { checkCount, checkValues } from './input-checks.ts'
import { checkSnapshot, type KvSnapshot } from './kv-snapshot.ts'
import { LatentSampler } from './latent-sampler.ts'
import { BackboneSnapshot, type SharedSnapshot } from './shared-snapshot.ts'
import { loadTimestepEmbedders } from './time-embedding.ts'
import { VoicePrompt } from './voice-prompt.ts'

export interface FlowLmOptions {
  /**
   * How the executor keeps the matrices. Default `stored`: as the checkpoint has them. `int8` is for the four large
   * matrices of each layer of the backbone, nearly all of the weights; the others stay as they are stored.
   */
  readonly precision?: FlowLmPrecision
  /**
   * What a config file says of the model. `heads`, `maxPeriod` and `insertBosBeforeVoice` are taken from here;
   * everything else is in the tensors' shapes and must agree with them.
   */
  readonly config?: Partial<FlowLmConfig>
  /**
   * Rows that one pass over a prompt may have, in descending order: for executors that compile kernels for every number
   * of rows they meet, and whose caches can be rewound, since the last pass is filled up. Default: any number up to 512.
   */
  readonly promptRows?: readonly number[]
}

interface Parts {
  readonly kernels: Kernels
  readonly config: FlowLmConfig
  readonly promptRows: readonly number[] | undefined
  readonly backbone: Backbone
  readonly embeddings: EmbeddingTable
  readonly sampler: LatentSampler
  readonly voicePrompt: VoicePrompt | undefined
  readonly hasBosBeforeVoice: boolean
  readonly bos: Float32Array
  readonly latentMean: Float32Array
  readonly latentStd: Float32Array
  readonly denormalization: Matrix
}

/**
 * The language model of Pocket TTS: reads a voice and a text, then speaks one latent (80 ms of audio) per step.
 *
 * Weights are loaded once and shared by any number of states; each state is one stream. Calls on different states may
 * overlap freely. Calls on one state take effect in the order they are made; awaiting each before the next is not needed.
 */
export class FlowLm {
  readonly config: FlowLmConfig
  /** Mean of the latents in training, `[latentDim]`. */
  readonly latentMean: Float32Array
  /** Standard deviation of the latents in training, `[latentDim]`. */
  readonly latentStd: Float32Array
  /** Whether the checkpoint can project audio latents into a voice prompt. */
  readonly hasSpeakerProjection: boolean
  /** Whether the checkpoint has the row `bos_before_voice`. */
  readonly hasBosBeforeVoice: boolean
  readonly #parts: Parts

  private constructor(parts: Parts) {
    this.config = parts.config
    this.latentMean = parts.latentMean
    this.latentStd = parts.latentStd
    this.hasSpeakerProjection = parts.voicePrompt !== undefined
    this.hasBosBeforeVoice = parts.hasBosBeforeVoice
    this.#parts = parts
  }

  /**
   * Loads the tensors of a FlowLM, named with or without the prefix `flow_lm.`. Nothing of `weights` is kept.
   * Throws FlowLmError `missing-tensor`, `wrong-shape`, `wrong-dtype`, `config`, `unavailable`.
   */
  static async load(weights: WeightReader, kernels: Kernels, options: FlowLmOptions = {}): Promise<FlowLm> {
    checkPrecision(options.precision ?? 'stored')
    const checkpoint = new Checkpoint(weights, {
      prefix: 'flow_lm.',
      fail: (problem, message) => new FlowLmError(problem, `${message}: is this the checkpoint of a FlowLM?`),
    })
    const config = readConfig(checkpoint, options.config)
    try {
      return new FlowLm(await loadParts(checkpoint, kernels, config, options))
    } finally {
      checkpoint.release()
    }
  }

  /** A new stream. Throws FlowLmError `snapshot`, `capacity` or `input`; KernelError `out-of-memory`. */
  createState(options: FlowStateOptions = {}): FlowState {
    return new BackboneState(this.#parts, options)
  }

  /**
   * A copy of the snapshot for states to adopt without one of their own, as many speak with one voice. What they say
   * is the same, bit for bit. Throws FlowLmError `snapshot`; KernelError `out-of-memory`.
   */
  share(snapshot: KvSnapshot): SharedSnapshot {
    const { kernels, backbone, config } = this.#parts
    checkSnapshot(snapshot, config)
    return new BackboneSnapshot(kernels, backbone, config, snapshot)
  }

  /** Reads text: one position a token. Draws no noise. Throws FlowLmError `token`, `capacity`, `state`, `disposed`. */
  async promptTokens(ids: ArrayLike<number>, state: FlowState): Promise<void> {
    const own = this.#own(state)
    own.checkRoom(ids.length)
    own.prompt(this.#parts.embeddings.gather(ids), ids.length)
  }

  /**
   * Begins one lane of a state anew, from a snapshot and with a text: `createState({ kernels })` with an executor that
   * has lanes. Throws as `createState` and `promptTokens` do.
   */
  async beginLane(
    state: FlowState,
    lane: number,
    { adopt, ids }: { readonly adopt: KvSnapshot | SharedSnapshot; readonly ids: ArrayLike<number> },
  ): Promise<void> {
    const own = this.#own(state)
    const rows = this.#parts.embeddings.gather(ids)
    own.loadLane(lane, adopt)
    own.prompt(rows, ids.length, lane)
  }

  /**
   * Reads rows that are embedded already, `[count, dModel]`, such as a voice prompt's.
   * Throws FlowLmError `input`, `capacity`, `state`, `disposed`.
   */
  async promptRows(rows: Float32Array, count: number, state: FlowState): Promise<void> {
    const own = this.#own(state)
    checkCount('count', count, 0)
    own.checkRoom(count)
    checkValues('rows', rows, count * this.config.dModel)
    own.prompt(rows, count)
  }

  /**
   * The rows that prompt a new voice, from an audio encoder's latents `[frames, innerDim]`: `[frames, dModel]`, after
   * the row `bos_before_voice` where the model begins a voice with it (`config.insertBosBeforeVoice`).
   * Throws FlowLmError `no-speaker-projection`, `input`.
   */
  async voicePrompt(latents: Float32Array, frames: number): Promise<NdArray<Float32Array>> {
    const { voicePrompt, config } = this.#parts
    if (!voicePrompt || config.innerDim === undefined) {
      throw new FlowLmError(
        'no-speaker-projection',
        'the checkpoint has no speaker_proj_weight and cannot make a voice from audio: use a voice file instead',
      )
    }
    checkCount('frames', frames)
    checkValues('latents', latents, frames * config.innerDim)
    return voicePrompt.rows(latents, frames)
  }

  /**
   * One step: from the previous latent `[latentDim]` as the flow head gave it (not denormalised), or from null at the
   * beginning of speech, to the hidden state `[dModel]` that the next latent is sampled from, and the raw
   * end-of-speech logit. Throws FlowLmError `input`, `capacity`, `state`, `disposed`.
   */
  async step(
    previous: Float32Array | null,
    state: FlowState,
  ): Promise<{ hidden: Float32Array; eosLogit: number }> {
    const own = this.#own(state)
    if (previous !== null) checkValues('previous (null begins speech)', previous, this.config.latentDim)
    return own.step(previous ?? this.#parts.bos)
  }

  /**
   * A latent `[latentDim]` from a hidden state `[dModel]` and noise `[latentDim]`, already scaled by √temperature, in
   * `steps` evaluations of the flow head (1 to 1000; 1 is the model's usual). Throws FlowLmError `input`, `steps`.
   */
  async sampleLatent(hidden: Float32Array, noise: Float32Array, steps: number): Promise<Float32Array> {
    checkValues('hidden', hidden, this.config.dModel)
    checkValues('noise', noise, this.config.latentDim)
    return this.#parts.sampler.sample(hidden, noise, steps)
  }

  /** `latent · latentStd + latentMean`, the codec's scale; `[latentDim]`, or any number of rows of it. */
  denormalize(latent: Float32Array): Float32Array {
    const { latentDim } = this.config
    if (latent.length % latentDim !== 0) {
      throw new FlowLmError('input', `latent: ${latent.length} values given, expected rows of ${latentDim}`)
    }
    return latent.map((value, index) => {
      const column = index % latentDim
      return value * (this.latentStd[column] ?? Number.NaN) + (this.latentMean[column] ?? Number.NaN)
    })
  }

  /**
   * A step and the sampling of its latent in `steps` evaluations of the flow head, for recordings of the caller's own.
   * They run on the executor that this model was loaded with. Throws FlowLmError `steps`, `state`, `disposed`.
   */
  framePass(state: FlowState, steps: number): FramePass {
    const { sampler, bos } = this.#parts
    const own = this.#own(state)
    const times = sampler.times(steps)
    return {
      beginning: bos.slice(),
      constants: { time: times },
      describe: (ops, latent, noise) => {
        const { hidden, eos } = own.describeStep(ops, latent)
        const next = sampler.describe(ops, hidden, noise, ops.input('time', steps, times.length / steps))
        return { next, eos, denormalized: ops.linear(next, this.#parts.denormalization) }
      },
    }
  }

  #own(state: FlowState): BackboneState {
    if (state instanceof BackboneState && state.backbone === this.#parts.backbone) return state
    throw new FlowLmError(
      'state',
      'the state was made by another model: make one with createState() of this one',
    )
  }
}

const precisions = ['stored', 'f32', 'bf16', 'int8'] as const satisfies readonly Precision[]

/** How a language model may be kept. */
export type FlowLmPrecision = (typeof precisions)[number]

const checkPrecision = (precision: FlowLmPrecision): void => {
  if (precisions.includes(precision)) return
  throw new FlowLmError(
    'unavailable',
    `precision is ${String(precision)}, expected one of ${precisions.join(', ')}`,
  )
}

const loadVoicePrompt = async (
  checkpoint: Checkpoint,
  kernels: Kernels,
  { dModel, innerDim, insertBosBeforeVoice }: FlowLmConfig,
  precision: Precision,
): Promise<VoicePrompt | undefined> => {
  if (!hasSpeakerProjection(checkpoint) || innerDim === undefined) return undefined
  const projection = kernels.matrix({
    weight: await checkpoint.stored('speaker_proj_weight', [dModel, innerDim]),
    precision,
  })
  const bos = insertBosBeforeVoice
    ? (await checkpoint.values('bos_before_voice', [1, 1, dModel])).slice()
    : undefined
  return new VoicePrompt(kernels, projection, bos)
}

const loadParts = async (
  checkpoint: Checkpoint,
  kernels: Kernels,
  config: FlowLmConfig,
  { precision = 'stored', promptRows }: FlowLmOptions,
): Promise<Parts> => {
  const others = precision === 'int8' ? 'stored' : precision
  const { vocabularySize, dModel, latentDim } = config
  // Copies: a float32 checkpoint hands out views of the whole file.
  const latentValues = async (name: string): Promise<Float32Array> =>
    (await checkpoint.values(name, [latentDim])).slice()
  const table = await checkpoint.stored('conditioner.embed.weight', [vocabularySize + 1, dModel])
  const latentMean = await latentValues('emb_mean')
  const latentStd = await latentValues('emb_std')
  return {
    kernels,
    config,
    promptRows,
    bos: await latentValues('bos_emb'),
    latentMean,
    latentStd,
    denormalization: denormalization(kernels, latentMean, latentStd),
    embeddings: new EmbeddingTable(table, vocabularySize, dModel),
    backbone: await loadBackbone(checkpoint, kernels, config, { layers: precision, others }),
    sampler: new LatentSampler(
      kernels,
      await loadFlowHead(checkpoint, kernels, config, others),
      await loadTimestepEmbedders(checkpoint, config),
    ),
    voicePrompt: await loadVoicePrompt(checkpoint, kernels, config, others),
    hasBosBeforeVoice: hasBosBeforeVoice(checkpoint),
  }
}
