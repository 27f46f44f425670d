import { nextTurn } from '@pocket/nn'
import type { Voice } from '../voices/voice.ts'
import { type FrameSource, type NoiseRows, type Step, type StepOptions, samplesOf } from './frame-source.ts'
import { KeptNoise } from './kept-noise.ts'
import type { Settings } from './options.ts'
import type { PlannedChunk } from './plan-text.ts'
import type { AudioFrame, GenerateProgress, UtteranceChunk, Warning } from './utterance.ts'

/** What an utterance is made with. */
export interface DriveContext {
  readonly source: FrameSource
  readonly voice: Voice
  readonly settings: Pick<Settings, 'noise' | 'lsdSteps' | 'eosThreshold' | 'onProgress' | 'onWarning'>
  /** Values of a latent, and so of a row of noise. */
  readonly latentDim: number
  /** Samples a second. */
  readonly sampleRate: number
  /** Stops within a frame; the frames then end with the signal's reason. */
  readonly signal: AbortSignal
  /** Chunks in all, where that is known. */
  readonly chunkCount?: number | undefined
  /** Called when a chunk has been spoken to its end. */
  readonly onChunk?: ((chunk: UtteranceChunk) => void) | undefined
}

/** A frame of a chunk. */
interface SpokenFrame<Pcm = Float32Array> {
  readonly pcm: Pcm
  /** Whether its step told that it is the last one. */
  readonly endsChunk: boolean
}

/** How a chunk stands. */
interface ChunkState {
  frames: number
  eosStep: number | null
}

/**
 * The generation contract, for every backend. Chunks are spoken one after another, each from the voice and a fresh
 * codec stream, with one noise stream through all of them. Frames are handed on as soon as they exist; leaving the
 * iteration early gives everything back.
 */
export async function* driveUtterance(
  chunks: Iterable<PlannedChunk> | AsyncIterable<PlannedChunk>,
  context: DriveContext,
): AsyncGenerator<AudioFrame, void, void> {
  const { chunkCount, onChunk, settings, latentDim } = context
  const noise = new KeptNoise(settings.noise, latentDim)
  const meter = new ProgressMeter(context)
  let chunkIndex = 0
  let index = 0
  let finished = false
  let span = { start: 0, end: 0 }
  for await (const chunk of chunks) {
    if (index > 0) await turn(context)
    meter.resume()
    span = chunk.span
    const state: ChunkState = { frames: 0, eosStep: null }
    for await (const { pcm, endsChunk } of driveChunk(chunk, state, noise, context)) {
      finished = chunkIndex + 1 === chunkCount && endsChunk
      meter.advance(pcm.length, chunkIndex)
      yield { pcm, index: index++, chunkIndex, span, isLast: finished }
      meter.resume()
    }
    warnOfLimit(chunk, state, context.settings.onWarning)
    onChunk?.(describeChunk(chunk, state))
    chunkIndex++
  }
  if (finished) return
  const pcm = new Float32Array(0)
  yield { pcm, index, chunkIndex: Math.max(0, chunkIndex - 1), span, isLast: true }
}

/**
 * The frames of one chunk. The end of speech is the first step whose raw logit is above the threshold; the step
 * `framesAfterEos` later is not emitted and ends the chunk, as does the greatest length. Its noise is drawn all the
 * same, so that the chunks after it get the rows that they get in the reference.
 *
 * Sound that is still being made is handed on after the next step: all but the first frame, which nothing may delay.
 */
async function* driveChunk(
  chunk: PlannedChunk,
  state: ChunkState,
  noise: KeptNoise,
  context: DriveContext,
): AsyncGenerator<SpokenFrame, void, void> {
  const { source, voice, settings, signal } = context
  let steps: AsyncIterator<Step> | undefined
  let late: SpokenFrame<Step['pcm']> | undefined
  const handOn = async ({ pcm, endsChunk }: SpokenFrame<Step['pcm']>): Promise<SpokenFrame> => {
    late = undefined
    const samples = await samplesOf({ pcm })
    signal.throwIfAborted()
    state.frames++
    return { pcm: samples, endsChunk }
  }
  try {
    await source.start(voice, chunk.ids, chunk.maxFrames, signal)
    steps = stepsOf(source, noise, settings)
    for (let step = 0; step < chunk.maxFrames; step++) {
      if (step > 0) await turn(context)
      signal.throwIfAborted()
      noise.take()
      // Whatever this step would say, it ends the chunk: it need not be computed.
      if (endsAt(step, chunk, state)) break
      const { pcm, eosLogit } = await nextOf(steps)
      if (state.eosStep === null && eosLogit > settings.eosThreshold) state.eosStep = step
      if (late) yield await handOn(late)
      if (endsAt(step, chunk, state)) break
      const frame = { pcm, endsChunk: endsAfter(step, chunk, state) }
      if (step > 0 && typeof pcm === 'function') late = frame
      else yield await handOn(frame)
    }
    if (late) yield await handOn(late)
  } catch (error) {
    // What was made before a failure is heard.
    if (late && !signal.aborted) yield await handOn(late)
    throw error
  } finally {
    await endChunk(steps, source)
    noise.endChunk()
  }
}

/** The steps of a chunk, in order, each made when it is asked for or, by sources that run ahead, before. */
const stepsOf = (source: FrameSource, noise: NoiseRows, options: StepOptions): AsyncIterator<Step> =>
  source.run ? source.run(noise, options)[Symbol.asyncIterator]() : inLockstep(source, noise, options)

async function* inLockstep(
  source: FrameSource,
  noise: NoiseRows,
  options: StepOptions,
): AsyncGenerator<Step, never, void> {
  let previous: Float32Array | null = null
  while (true) {
    const step: Step = await source.next(previous, noise.next(), options)
    yield step
    previous = step.latent
  }
}

const nextOf = async (steps: AsyncIterator<Step>): Promise<Step> => {
  const result = await steps.next()
  if (!result.done) return result.value
  throw new Error('a source ended its chunk before the driver did')
}

const endChunk = async (steps: AsyncIterator<Step> | undefined, source: FrameSource): Promise<void> => {
  try {
    await steps?.return?.()
  } finally {
    await source.end()
  }
}

const endsAt = (step: number, { framesAfterEos }: PlannedChunk, { eosStep }: ChunkState): boolean =>
  eosStep !== null && step >= eosStep + framesAfterEos

/** After a step: whether it is known by now that the chunk has no more. */
const endsAfter = (step: number, chunk: PlannedChunk, state: ChunkState): boolean =>
  step + 1 === chunk.maxFrames || endsAt(step + 1, chunk, state)

const turn = async ({ signal }: DriveContext): Promise<void> => {
  await nextTurn()
  signal.throwIfAborted()
}

const warnOfLimit = (
  { span, text, maxFrames }: PlannedChunk,
  { frames, eosStep }: ChunkState,
  onWarning: ((warning: Warning) => void) | undefined,
): void => {
  if (frames < maxFrames) return
  const reason = eosStep === null ? 'the model did not end its speech' : 'more frames were to follow its end'
  onWarning?.({
    code: 'max-frames',
    message: `'${text.slice(0, 40)}' was cut off at ${maxFrames} frames, the most for its length: ${reason}`,
    span,
  })
}

const describeChunk = (chunk: PlannedChunk, state: ChunkState): UtteranceChunk => ({
  text: chunk.text,
  ids: [...chunk.ids],
  framesAfterEos: chunk.framesAfterEos,
  maxFrames: chunk.maxFrames,
  frames: state.frames,
  eosStep: state.eosStep,
})

/** Counts frames, and the time that went into them. */
class ProgressMeter {
  readonly #sampleRate: number
  readonly #chunkCount: number | undefined
  readonly #onProgress: ((progress: GenerateProgress) => void) | undefined
  #frames = 0
  #samples = 0
  #workMs = 0
  #since = 0

  constructor({ sampleRate, chunkCount, settings }: DriveContext) {
    this.#sampleRate = sampleRate
    this.#chunkCount = chunkCount
    this.#onProgress = settings.onProgress
  }

  /** Work goes on. */
  resume(): void {
    this.#since = performance.now()
  }

  /** A frame is there; work rests until `resume`. */
  advance(samples: number, chunkIndex: number): void {
    this.#workMs += performance.now() - this.#since
    this.#frames++
    this.#samples += samples
    const seconds = this.#samples / this.#sampleRate
    this.#onProgress?.({
      chunkIndex,
      chunkCount: this.#chunkCount,
      frames: this.#frames,
      seconds,
      realTimeFactor: this.#workMs > 0 ? seconds / (this.#workMs / 1000) : 0,
    })
  }
}
