import type { FrameSource, NoiseRows, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import { currentChunk } from './current-chunk.ts'
import type { FrameStream, StreamingExecutor } from './frame-stream.ts'
import type { Speaker, SpeakingModel } from './speaker.ts'
import { freshSpeakers, type Speakers } from './speakers.ts'

/** How far a source runs ahead of whoever listens. Sound does not depend on it. */
export interface Pace {
  /** Frames of the first submit, the second, and so on; the last number holds from there on. */
  readonly framesPerSubmit: readonly number[]
  /** Submits under way at once. */
  readonly inFlight: number
}

interface Chunk {
  readonly kv: Voice['kv']
  readonly speaker: Speaker
  readonly maxFrames: number
}

/**
 * Both networks as one plan whose latents never leave the executor. Frames are submitted ahead of the driver, which
 * learns of the end of speech when it reads a frame: those submitted behind it are dropped.
 */
export class RunAheadSource implements FrameSource {
  readonly #speakers: Speakers
  readonly #pace: Pace
  #chunk: Chunk | undefined

  /** @param model loaded with `executor` */
  constructor(
    model: SpeakingModel,
    executor: StreamingExecutor,
    pace: Pace,
    speakers: Speakers = freshSpeakers(model, executor),
  ) {
    this.#speakers = speakers
    this.#pace = pace
  }

  async start(voice: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    const { kv } = voice
    const speaker = this.#speakers.take(kv, kv.positions + ids.length + maxFrames)
    this.#chunk = { kv, speaker, maxFrames }
    await this.#speakers.begin(speaker, kv, ids)
  }

  async next(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Step> {
    const { stream, beginning } = currentChunk(this.#chunk).speaker.streamFor(lsdSteps)
    stream.write('latent', previous ?? beginning)
    const [outputs] = await stream.submit([{ noise }])
    return toStep(outputs)
  }

  async *run(noise: NoiseRows, { lsdSteps }: StepOptions): AsyncGenerator<Step, void, void> {
    const { speaker, maxFrames } = currentChunk(this.#chunk)
    const { stream, beginning } = speaker.streamFor(lsdSteps)
    stream.write('latent', beginning)
    const { framesPerSubmit, inFlight } = this.#pace
    const underWay: ReturnType<FrameStream['submit']>[] = []
    let submits = 0
    let left = maxFrames
    while (left > 0 || underWay.length > 0) {
      while (left > 0 && underWay.length < inFlight) {
        const frames = Math.min(left, framesPerSubmit[submits] ?? framesPerSubmit.at(-1) ?? 1)
        const outputs = stream.submit(Array.from({ length: frames }, () => ({ noise: noise.next() })))
        // Nobody may be left to hear of a failure: the driver stops reading where speech ends.
        outputs.catch(() => {})
        underWay.push(outputs)
        submits++
        left -= frames
      }
      for (const outputs of (await underWay.shift()) ?? []) yield toStep(outputs)
    }
  }

  async end(): Promise<void> {
    const chunk = this.#chunk
    this.#chunk = undefined
    if (chunk) this.#speakers.giveBack(chunk.speaker, chunk.kv)
  }
}

const toStep = ({ next, eos, pcm }: Record<string, Float32Array> = {}): Step => {
  if (!next || !eos || !pcm) throw new Error('a run gave no frame')
  return { latent: next, eosLogit: eos[0] ?? Number.NaN, pcm }
}
