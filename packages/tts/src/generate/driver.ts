import { type Aside, makeAhead } from './chunks-ahead.ts'
import { type ChunkContext, type ChunkState, driveChunk, type SpokenChunk, turn } from './drive-chunk.ts'
import { KeptNoise } from './kept-noise.ts'
import type { Settings } from './options.ts'
import type { PlannedChunk } from './plan-text.ts'
import type { AudioFrame, GenerateProgress, UtteranceChunk, Warning } from './utterance.ts'

/** What an utterance is made with. */
export interface DriveContext extends ChunkContext {
  readonly settings: ChunkContext['settings'] &
    Pick<Settings, 'noise' | 'noiseOfChunk' | 'onProgress' | 'onWarning'>
  /** Values of a latent, and so of a row of noise. */
  readonly latentDim: number
  /** Samples a second. */
  readonly sampleRate: number
  /** Chunks in all, where that is known. */
  readonly chunkCount?: number | undefined
  /** Sources for chunks that are made while another is heard, where their noise allows it. */
  readonly aside?: Aside | undefined
  /** Called when a chunk has been spoken to its end. */
  readonly onChunk?: ((chunk: UtteranceChunk) => void) | undefined
}

/**
 * The generation contract, for every backend. Chunks are heard one after another, each from the voice and a fresh codec
 * stream, with one noise stream through all of them unless each has one of its own. Frames are handed on as soon as they
 * exist; leaving the iteration early gives everything back.
 */
export async function* driveUtterance(
  chunks: Iterable<PlannedChunk> | AsyncIterable<PlannedChunk>,
  context: DriveContext,
): AsyncGenerator<AudioFrame, void, void> {
  const { chunkCount, onChunk } = context
  const meter = new ProgressMeter(context)
  let chunkIndex = 0
  let index = 0
  let finished = false
  let span = { start: 0, end: 0 }
  for await (const { chunk, state, frames } of spokenChunks(chunks, context)) {
    if (index > 0) await turn(context)
    meter.resume()
    span = chunk.span
    for await (const { pcm, endsChunk } of frames) {
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

/** Chunks whose noise does not depend on those before may be made side by side; it makes no difference to them. */
const spokenChunks = (
  chunks: Iterable<PlannedChunk> | AsyncIterable<PlannedChunk>,
  context: DriveContext,
): AsyncIterable<SpokenChunk> => {
  const { settings, latentDim, aside } = context
  const { noiseOfChunk } = settings
  if (!noiseOfChunk) {
    const noise = new KeptNoise(settings.noise, latentDim)
    return oneByOne(chunks, context, () => noise)
  }
  const noiseFor = (index: number): KeptNoise => new KeptNoise(noiseOfChunk(index), latentDim)
  return aside && Array.isArray(chunks)
    ? makeAhead(chunks, { ...context, aside, noiseFor })
    : oneByOne(chunks, context, noiseFor)
}

async function* oneByOne(
  chunks: Iterable<PlannedChunk> | AsyncIterable<PlannedChunk>,
  context: DriveContext,
  noiseFor: (index: number) => KeptNoise,
): AsyncGenerator<SpokenChunk, void, void> {
  let index = 0
  for await (const chunk of chunks) {
    const state: ChunkState = { frames: 0, eosStep: null }
    yield { chunk, state, frames: driveChunk(chunk, state, noiseFor(index++), context) }
  }
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
