import type { FlowLm, FlowState } from '@pocket/flowlm'
import type { MimiCodec, MimiDecoder } from '@pocket/mimi'
import type { FrameSource, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import { SharedVoices } from './shared-voices.ts'

export interface CpuSourceOptions {
  /** Of the executor: with several the codec makes a frame while the next step is made. Default 1. */
  readonly threads?: number
  /** Those that other sources of the same model speak with, to be shared. */
  readonly voices?: SharedVoices
}

/** Both networks on one executor, frame by frame. Weights are shared with every other source, states are its own. */
export class CpuFrameSource implements FrameSource {
  readonly #flowLm: FlowLm
  readonly #codec: MimiCodec
  readonly #overlaps: boolean
  readonly #voices: SharedVoices
  #voice: Voice['kv'] | undefined
  #state: FlowState | undefined
  #decoder: MimiDecoder | undefined

  constructor(flowLm: FlowLm, codec: MimiCodec, { threads = 1, voices }: CpuSourceOptions = {}) {
    this.#flowLm = flowLm
    this.#codec = codec
    this.#overlaps = threads > 1
    this.#voices = voices ?? new SharedVoices(flowLm)
  }

  async start(voice: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    const capacity = voice.kv.positions + ids.length + maxFrames
    const adopt = this.#voices.use(voice.kv)
    this.#voice = voice.kv
    this.#state = this.#flowLm.createState({ adopt, capacity })
    this.#decoder = this.#codec.createDecoder()
    await this.#flowLm.promptTokens(ids, this.#state)
  }

  async next(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Step> {
    if (!this.#state || !this.#decoder) throw new Error('next() was called outside start() and end()')
    const { hidden, eosLogit } = await this.#flowLm.step(previous, this.#state)
    const latent = await this.#flowLm.sampleLatent(hidden, noise, lsdSteps)
    const latents = this.#flowLm.denormalize(latent)
    const pcm = await (this.#overlaps ? this.#decoder.begin(latents) : this.#decoder.decode(latents, 1))
    return { latent, eosLogit, pcm }
  }

  async end(): Promise<void> {
    this.#state?.dispose()
    this.#decoder?.dispose()
    if (this.#voice) this.#voices.release(this.#voice)
    this.#voice = undefined
    this.#state = undefined
    this.#decoder = undefined
  }
}
