import type { FrameSource, NoiseRows, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import { currentChunk } from './current-chunk.ts'
import type { LaneScheduler, Seat } from './lane-scheduler.ts'

/** An utterance among others that are spoken in the same runs. */
export class LaneSource implements FrameSource {
  readonly #scheduler: LaneScheduler
  #chunk: { readonly seat: Seat; readonly maxFrames: number } | undefined

  constructor(scheduler: LaneScheduler) {
    this.#scheduler = scheduler
  }

  async start(voice: Voice, ids: Uint32Array, maxFrames: number, signal?: AbortSignal): Promise<void> {
    this.#chunk = { seat: await this.#scheduler.join(voice, ids, maxFrames, signal), maxFrames }
  }

  next(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Step> {
    return this.#scheduler.frame(currentChunk(this.#chunk).seat, previous, noise, lsdSteps)
  }

  run(noise: NoiseRows, { lsdSteps }: StepOptions): AsyncGenerator<Step, void, void> {
    const { seat, maxFrames } = currentChunk(this.#chunk)
    return this.#scheduler.frames(seat, noise, lsdSteps, maxFrames)
  }

  async end(): Promise<void> {
    const chunk = this.#chunk
    this.#chunk = undefined
    if (chunk) this.#scheduler.leave(chunk.seat)
  }
}
