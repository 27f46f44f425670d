import { nextTurn } from '@pocket/nn'
import type { Voice } from '../voices/voice.ts'
import { type FrameSource, type NoiseRows, type Step, type StepOptions, samplesOf } from './frame-source.ts'
import { inLockstep } from './in-lockstep.ts'
import type { KeptNoise } from './kept-noise.ts'
import type { Settings } from './options.ts'
import type { PlannedChunk } from './plan-text.ts'

/** What a chunk is made with. */
export interface ChunkContext {
  readonly source: FrameSource
  readonly voice: Voice
  readonly settings: Pick<Settings, 'lsdSteps' | 'eosThreshold'>
  /** Stops within a frame; the frames then end with the signal's reason. */
  readonly signal: AbortSignal
}

/** A frame of a chunk. */
export interface SpokenFrame<Pcm = Float32Array> {
  readonly pcm: Pcm
  /** Whether its step told that it is the last one. */
  readonly endsChunk: boolean
}

/** How a chunk stands. */
export interface ChunkState {
  frames: number
  eosStep: number | null
}

/** A chunk on its way. */
export interface SpokenChunk {
  readonly chunk: PlannedChunk
  readonly state: Readonly<ChunkState>
  readonly frames: AsyncIterable<SpokenFrame>
}

/**
 * The frames of one chunk. The end of speech is the first step whose raw logit is above the threshold; the step
 * `framesAfterEos` later is not emitted and ends the chunk, as does the greatest length. Its noise is drawn all the
 * same, so that the chunks after it get the rows that they get in the reference.
 *
 * Sound that is still being made is handed on after the next step: all but the first frame, which nothing may delay.
 */
export async function* driveChunk(
  chunk: PlannedChunk,
  state: ChunkState,
  noise: KeptNoise,
  context: ChunkContext,
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

/** Others get their turn of the event loop, and an abort is noticed. */
export const turn = async ({ signal }: Pick<ChunkContext, 'signal'>): Promise<void> => {
  await nextTurn()
  signal.throwIfAborted()
}
