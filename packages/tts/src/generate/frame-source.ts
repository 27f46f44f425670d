import type { Voice } from '../voices/voice.ts'

/** One step of the language model and the sound it makes. */
export interface Step {
  /** `[latentDim]`, as the flow head gave it: what the next step takes. */
  readonly latent: Float32Array
  /** Raw logit of the end of speech; no sigmoid. */
  readonly eosLogit: number
  /**
   * One frame of samples (1920 at 24 kHz), from a codec stream that began with the chunk. A function: they are being made
   * and whoever calls it waits for them, so that the next step should be asked for first.
   */
  readonly pcm: Float32Array | Promise<Float32Array> | (() => Promise<Float32Array>)
}

/** Waits for the samples of a step. */
export const samplesOf = async ({ pcm }: Pick<Step, 'pcm'>): Promise<Float32Array> =>
  typeof pcm === 'function' ? pcm() : pcm

export interface StepOptions {
  /** Evaluations of the flow head per latent. */
  readonly lsdSteps: number
}

/** Noise for a source that runs ahead: `[latentDim]` a step, scaled, in order. Rows it drew in vain are kept. */
export interface NoiseRows {
  next(): Float32Array
}

/**
 * A backend. It answers one question, "given the previous latent and this noise, what is the next frame?", and knows
 * nothing of texts, seeds, thresholds or when to stop: that is the driver's, and the same for every backend.
 *
 * One source serves one utterance. Its chunks come one after another: `start`, `next`…, `end`.
 */
export interface FrameSource {
  /**
   * Begins a chunk from the voice and a fresh codec stream, and reads its text. Reserves the positions of the voice,
   * the ids and `maxFrames` steps, or throws before any work. A source that has to wait for others stops waiting when
   * `signal` is aborted, and rejects with its reason.
   */
  start(voice: Voice, ids: Uint32Array, maxFrames: number, signal?: AbortSignal): Promise<void>
  /** The next frame. `previous` is the latent of the step before, null at the beginning; `noise` is scaled. */
  next(previous: Float32Array | null, noise: Float32Array, options: StepOptions): Promise<Step>
  /** For sources that feed their own latents and run ahead; the driver stops reading when the chunk ends. */
  run?(noise: NoiseRows, options: StepOptions): AsyncIterable<Step>
  /** Ends the chunk and gives back its memory, wherever it stands. A second call does nothing. */
  end(): Promise<void>
}
