import type { FlowLm, FlowState } from '@pocket/flowlm'
import type { MimiCodec, MimiDecoder } from '@pocket/mimi'
import type { FrameSource, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'

/** Both networks on one executor, frame by frame. Weights are shared with every other source, states are its own. */
export class CpuFrameSource implements FrameSource {
  readonly #flowLm: FlowLm
  readonly #codec: MimiCodec
  #state: FlowState | undefined
  #decoder: MimiDecoder | undefined

  constructor(flowLm: FlowLm, codec: MimiCodec) {
    this.#flowLm = flowLm
    this.#codec = codec
  }

  async start(voice: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    const capacity = voice.kv.positions + ids.length + maxFrames
    this.#state = this.#flowLm.createState({ adopt: voice.kv, capacity })
    this.#decoder = this.#codec.createDecoder()
    await this.#flowLm.promptTokens(ids, this.#state)
  }

  async next(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Step> {
    if (!this.#state || !this.#decoder) throw new Error('next() was called outside start() and end()')
    const { hidden, eosLogit } = await this.#flowLm.step(previous, this.#state)
    const latent = await this.#flowLm.sampleLatent(hidden, noise, lsdSteps)
    const pcm = await this.#decoder.decode(this.#flowLm.denormalize(latent), 1)
    return { latent, eosLogit, pcm }
  }

  async end(): Promise<void> {
    this.#state?.dispose()
    this.#decoder?.dispose()
    this.#state = undefined
    this.#decoder = undefined
  }
}
