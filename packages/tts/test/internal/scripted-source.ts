import type { FrameSource, Step, StepOptions } from '../../src/generate/frame-source.ts'
import type { Voice } from '../../src/voices/voice.ts'

/**
 * A backend whose end-of-speech logits are written down, chunk by chunk, and whose latents and samples tell what it
 * was asked: latent `[chunk, step]`, samples all equal to `100 · chunk + step`.
 */
export class ScriptedSource implements FrameSource {
  readonly started: { ids: number[]; maxFrames: number }[] = []
  readonly asked: { previous: number[] | null; noise: number[]; lsdSteps: number }[] = []
  ended = 0
  /** Chunks that are begun and not ended. */
  open = 0
  readonly #logits: readonly (readonly number[])[]
  #step = 0

  constructor(logits: readonly (readonly number[])[]) {
    this.#logits = logits
  }

  async start(_voice: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    this.started.push({ ids: [...ids], maxFrames })
    this.open++
    this.#step = 0
  }

  async next(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Step> {
    const chunk = this.started.length - 1
    const step = this.#step++
    this.asked.push({ previous: previous && [...previous], noise: [...noise], lsdSteps })
    return {
      latent: Float32Array.of(chunk, step),
      eosLogit: this.#logits[chunk]?.[step] ?? silent,
      pcm: new Float32Array(4).fill(100 * chunk + step),
    }
  }

  async end(): Promise<void> {
    this.ended++
    this.open--
  }
}

/** A logit far below any threshold. */
export const silent = -100

/** Logits that cross −4 first at `step`. */
export const eosAt = (step: number): number[] => [...new Array<number>(step).fill(silent), 1]

/** Rows that count: 1, 2, 3, … */
export class CountingNoise {
  drawn = 0

  next(length: number): Float32Array {
    this.drawn++
    return new Float32Array(length).fill(this.drawn)
  }
}
