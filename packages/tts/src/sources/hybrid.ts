import type { FlowLm } from '@pocket/flowlm'
import type { MimiCodec } from '@pocket/mimi'
import type { FrameSource, NoiseRows, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import { currentChunk } from './current-chunk.ts'
import { NetworkChunk, type Networks } from './network-chunk.ts'
import type { SharedVoices } from './shared-voices.ts'

/**
 * The language model on one executor, the codec on another, at the same time: while a frame is decoded, the next latent
 * is made.
 */
export class HybridFrameSource implements FrameSource {
  readonly #networks: Networks
  #chunk: { readonly networks: NetworkChunk; readonly maxFrames: number } | undefined

  /** `voices`: those that other sources of the same model speak with, to be shared. */
  constructor(flowLm: FlowLm, codec: MimiCodec, voices: SharedVoices) {
    this.#networks = { flowLm, codec, voices }
  }

  async start(voice: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    const capacity = voice.kv.positions + ids.length + maxFrames
    const networks = new NetworkChunk(this.#networks, voice, capacity)
    this.#chunk = { networks, maxFrames }
    await networks.read(ids)
  }

  async next(previous: Float32Array | null, noise: Float32Array, options: StepOptions): Promise<Step> {
    const { networks } = currentChunk(this.#chunk)
    const { latent, eosLogit, denormalized } = await networks.step(previous, noise, options)
    const pcm = networks.decoder.decode(denormalized, 1)
    // Nobody may be left to hear of a failure: a frame behind the end of speech is dropped.
    pcm.catch(() => {})
    return { latent, eosLogit, pcm }
  }

  /** One latent ahead of the codec; the first frame waits for nothing. */
  async *run(noise: NoiseRows, options: StepOptions): AsyncGenerator<Step, void, void> {
    const { maxFrames } = currentChunk(this.#chunk)
    let previous: Float32Array | null = null
    let decoding: Step | undefined
    try {
      for (let frame = 0; frame < maxFrames; frame++) {
        const step: Step = await this.next(previous, noise.next(), options)
        previous = step.latent
        const ready: Step | undefined = frame === 0 ? step : decoding
        decoding = frame === 0 ? undefined : step
        if (ready) yield ready
      }
    } catch (error) {
      // What was made before a failure is heard.
      if (decoding) yield decoding
      throw error
    }
    if (decoding) yield decoding
  }

  async end(): Promise<void> {
    const chunk = this.#chunk
    this.#chunk = undefined
    chunk?.networks.dispose()
  }
}
