import type { FlowLm, FlowState, SharedSnapshot } from '@pocket/flowlm'
import type { DecoderPass, MimiCodec } from '@pocket/mimi'
import { recordFrame } from './frame-recording.ts'
import type { FrameStream, FrameStreamOptions, StreamingExecutor } from './frame-stream.ts'

/** Both networks, loaded with one executor. */
export interface SpeakingModel {
  readonly flowLm: FlowLm
  readonly codec: MimiCodec
}

const streamOptions: FrameStreamOptions = {
  feedback: { latent: 'next' },
  inputs: ['noise'],
  outputs: ['next', 'eos', 'pcm'],
}

/** What is spoken with: the states of both networks, and the plans that are bound to them. */
export class Speaker<Stream extends FrameStream = FrameStream> {
  readonly state: FlowState
  readonly #model: SpeakingModel
  readonly #executor: StreamingExecutor<Stream>
  readonly #decoder: DecoderPass
  /** By LSD steps. */
  readonly #streams = new Map<number, { readonly stream: Stream; readonly beginning: Float32Array }>()

  /** Takes `state` over, also where this fails. `decoder` makes the states of the codec. */
  constructor(
    model: SpeakingModel,
    executor: StreamingExecutor<Stream>,
    state: FlowState,
    decoder: () => DecoderPass = () => model.codec.createDecoderPass(),
  ) {
    this.#model = model
    this.#executor = executor
    this.state = state
    try {
      this.#decoder = decoder()
    } catch (error) {
      // A GPU that is gone gives no decoder.
      state.dispose()
      throw error
    }
  }

  /** Begins a chunk in a lane: the voice is copied to there, and the text is read. */
  async begin(lane: number, adopt: SharedSnapshot, ids: Uint32Array): Promise<void> {
    this.#decoder.reset(lane)
    await this.#model.flowLm.beginLane(this.state, lane, { adopt, ids })
  }

  /** The plan of a frame, its constants written, and the latent that a chunk begins with. */
  streamFor(lsdSteps: number): { readonly stream: Stream; readonly beginning: Float32Array } {
    const known = this.#streams.get(lsdSteps)
    if (known) return known
    const { recording, initial } = recordFrame(this.#model, this.state, this.#decoder, lsdSteps)
    const stream = this.#executor.stream(recording, streamOptions)
    const { latent: beginning = new Float32Array(), ...constants } = initial
    for (const [name, values] of Object.entries(constants)) {
      for (let lane = 0; lane < (this.#executor.lanes ?? 1); lane++) stream.write(name, values, lane)
    }
    const made = { stream, beginning }
    this.#streams.set(lsdSteps, made)
    return made
  }

  dispose(): void {
    for (const { stream } of this.#streams.values()) stream.dispose()
    this.#decoder.dispose()
    this.state.dispose()
  }
}
