import type { FlowLm, FlowState } from '@pocket/flowlm'
import type { MimiCodec, MimiDecoder } from '@pocket/mimi'
import type { StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import type { SharedVoices } from './shared-voices.ts'

/** Two networks that are run one after the other, on one executor or on two. */
export interface Networks {
  readonly flowLm: FlowLm
  readonly codec: MimiCodec
  /** Those that other sources of the same model speak with, to be shared. */
  readonly voices: SharedVoices
}

/** A latent as the next step takes it, and as the codec does. */
interface Latent {
  readonly latent: Float32Array
  readonly eosLogit: number
  readonly denormalized: Float32Array
}

/** A chunk that is being spoken: a state of either network, and the voice. */
export class NetworkChunk {
  readonly decoder: MimiDecoder
  readonly #networks: Networks
  readonly #kv: Voice['kv']
  readonly #state: FlowState

  /** @param capacity positions: voice, text and frames */
  constructor(networks: Networks, { kv }: Voice, capacity: number) {
    const { flowLm, codec, voices } = networks
    this.#networks = networks
    this.#kv = kv
    const adopt = voices.use(kv)
    let state: FlowState | undefined
    try {
      state = flowLm.createState({ adopt, capacity })
      this.decoder = codec.createDecoder()
      this.#state = state
    } catch (error) {
      // No room, or a GPU that is gone and gives no decoder.
      state?.dispose()
      voices.release(kv)
      throw error
    }
  }

  /** Reads the text. */
  read(ids: Uint32Array): Promise<void> {
    return this.#networks.flowLm.promptTokens(ids, this.#state)
  }

  async step(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Latent> {
    const { flowLm } = this.#networks
    const { hidden, eosLogit } = await flowLm.step(previous, this.#state)
    const latent = await flowLm.sampleLatent(hidden, noise, lsdSteps)
    return { latent, eosLogit, denormalized: flowLm.denormalize(latent) }
  }

  dispose(): void {
    this.#state.dispose()
    this.#networks.voices.release(this.#kv)
    this.decoder.dispose()
  }
}
