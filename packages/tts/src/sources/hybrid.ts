import type { FlowLm, FlowState } from '@pocket/flowlm'
import type { MimiCodec, MimiDecoder } from '@pocket/mimi'
import type { FrameSource, NoiseRows, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import type { SharedVoices } from './shared-voices.ts'

interface Chunk {
  readonly kv: Voice['kv']
  readonly state: FlowState
  readonly decoder: MimiDecoder
  readonly maxFrames: number
}

/**
 * The language model on one executor, the codec on another, at the same time: while a frame is decoded, the next latent
 * is made.
 */
export class HybridFrameSource implements FrameSource {
  readonly #flowLm: FlowLm
  readonly #codec: MimiCodec
  readonly #voices: SharedVoices
  #chunk: Chunk | undefined

  /** `voices`: those that other sources of the same model speak with, to be shared. */
  constructor(flowLm: FlowLm, codec: MimiCodec, voices: SharedVoices) {
    this.#flowLm = flowLm
    this.#codec = codec
    this.#voices = voices
  }

  async start({ kv }: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    const capacity = kv.positions + ids.length + maxFrames
    const state = this.#beginWith(kv, capacity)
    try {
      this.#chunk = { kv, state, decoder: this.#codec.createDecoder(), maxFrames }
    } catch (error) {
      // A GPU that is gone gives no decoder.
      state.dispose()
      this.#voices.release(kv)
      throw error
    }
    await this.#flowLm.promptTokens(ids, state)
  }

  async next(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Step> {
    const { state, decoder } = this.#current()
    const { hidden, eosLogit } = await this.#flowLm.step(previous, state)
    const latent = await this.#flowLm.sampleLatent(hidden, noise, lsdSteps)
    const pcm = decoder.decode(this.#flowLm.denormalize(latent), 1)
    // Nobody may be left to hear of a failure: a frame behind the end of speech is dropped.
    pcm.catch(() => {})
    return { latent, eosLogit, pcm }
  }

  /** One latent ahead of the codec; the first frame waits for nothing. */
  async *run(noise: NoiseRows, options: StepOptions): AsyncGenerator<Step, void, void> {
    const { maxFrames } = this.#current()
    let previous: Float32Array | null = null
    let decoding: Step | undefined
    for (let frame = 0; frame < maxFrames; frame++) {
      const step: Step = await this.next(previous, noise.next(), options)
      previous = step.latent
      if (frame === 0) {
        yield step
        continue
      }
      if (decoding) yield decoding
      decoding = step
    }
    if (decoding) yield decoding
  }

  async end(): Promise<void> {
    const chunk = this.#chunk
    this.#chunk = undefined
    chunk?.state.dispose()
    chunk?.decoder.dispose()
    if (chunk) this.#voices.release(chunk.kv)
  }

  #beginWith(kv: Voice['kv'], capacity: number): FlowState {
    const adopt = this.#voices.use(kv)
    try {
      return this.#flowLm.createState({ adopt, capacity })
    } catch (error) {
      this.#voices.release(kv)
      throw error
    }
  }

  #current(): Chunk {
    if (this.#chunk) return this.#chunk
    throw new Error('a frame was asked for outside start() and end()')
  }
}
