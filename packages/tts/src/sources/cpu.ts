import type { FlowLm } from '@pocket/flowlm'
import type { MimiCodec } from '@pocket/mimi'
import type { FrameSource, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import { currentChunk } from './current-chunk.ts'
import { NetworkChunk, type Networks } from './network-chunk.ts'
import { SharedVoices } from './shared-voices.ts'

export interface CpuSourceOptions {
  /** Of the executor: with several the codec makes a frame while the next step is made. Default 1. */
  readonly threads?: number
  /** Those that other sources of the same model speak with, to be shared. */
  readonly voices?: SharedVoices
}

/** Both networks on one executor, frame by frame. Weights are shared with every other source, states are its own. */
export class CpuFrameSource implements FrameSource {
  readonly #networks: Networks
  readonly #overlaps: boolean
  #chunk: NetworkChunk | undefined

  constructor(flowLm: FlowLm, codec: MimiCodec, { threads = 1, voices }: CpuSourceOptions = {}) {
    this.#networks = { flowLm, codec, voices: voices ?? new SharedVoices(flowLm) }
    this.#overlaps = threads > 1
  }

  async start(voice: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    this.#chunk = new NetworkChunk(this.#networks, voice, voice.kv.positions + ids.length + maxFrames)
    await this.#chunk.read(ids)
  }

  async next(previous: Float32Array | null, noise: Float32Array, options: StepOptions): Promise<Step> {
    const chunk = currentChunk(this.#chunk)
    const { latent, eosLogit, denormalized } = await chunk.step(previous, noise, options)
    const { decoder } = chunk
    const pcm = await (this.#overlaps ? decoder.begin(denormalized) : decoder.decode(denormalized, 1))
    return { latent, eosLogit, pcm }
  }

  async end(): Promise<void> {
    const chunk = this.#chunk
    this.#chunk = undefined
    chunk?.dispose()
  }
}
