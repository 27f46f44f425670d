import type { FlowLm, FlowState } from '@pocket/flowlm'
import type { DecoderPass, MimiCodec } from '@pocket/mimi'
import type { FrameSource, NoiseRows, Step, StepOptions } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import { recordFrame } from './frame-recording.ts'
import type { FrameStream, StreamingExecutor } from './frame-stream.ts'

/** How far a source runs ahead of whoever listens. Sound does not depend on it. */
export interface Pace {
  /** Frames of the first submit, the second, and so on; the last number holds from there on. */
  readonly framesPerSubmit: readonly number[]
  /** Submits under way at once. */
  readonly inFlight: number
}

interface Chunk {
  readonly state: FlowState
  readonly decoder: DecoderPass
  readonly maxFrames: number
  stream?: FrameStream
}

/**
 * Both networks as one plan whose latents never leave the executor. Frames are submitted ahead of the driver, which
 * learns of the end of speech when it reads a frame: those submitted behind it are dropped.
 */
export class RunAheadSource implements FrameSource {
  readonly #model: { readonly flowLm: FlowLm; readonly codec: MimiCodec }
  readonly #executor: StreamingExecutor
  readonly #pace: Pace
  #chunk: Chunk | undefined

  /** @param model loaded with `executor` */
  constructor(
    model: { readonly flowLm: FlowLm; readonly codec: MimiCodec },
    executor: StreamingExecutor,
    pace: Pace,
  ) {
    this.#model = model
    this.#executor = executor
    this.#pace = pace
  }

  async start(voice: Voice, ids: Uint32Array, maxFrames: number): Promise<void> {
    const { flowLm, codec } = this.#model
    const capacity = voice.kv.positions + ids.length + maxFrames
    const state = flowLm.createState({ adopt: voice.kv, capacity })
    this.#chunk = { state, decoder: codec.createDecoderPass(), maxFrames }
    await flowLm.promptTokens(ids, state)
  }

  async next(previous: Float32Array | null, noise: Float32Array, { lsdSteps }: StepOptions): Promise<Step> {
    const chunk = this.#current()
    const stream = chunk.stream ?? this.#open(chunk, lsdSteps)
    if (previous) stream.write('latent', previous)
    const [outputs] = await stream.submit([{ noise }])
    return toStep(outputs)
  }

  async *run(noise: NoiseRows, { lsdSteps }: StepOptions): AsyncGenerator<Step, void, void> {
    const chunk = this.#current()
    const stream = this.#open(chunk, lsdSteps)
    const { framesPerSubmit, inFlight } = this.#pace
    const underWay: ReturnType<FrameStream['submit']>[] = []
    let submits = 0
    let left = chunk.maxFrames
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
    chunk?.stream?.dispose()
    chunk?.decoder.dispose()
    chunk?.state.dispose()
  }

  #open(chunk: Chunk, lsdSteps: number): FrameStream {
    const { recording, initial } = recordFrame(this.#model, chunk.state, chunk.decoder, lsdSteps)
    const stream = this.#executor.stream(recording, {
      feedback: { latent: 'next' },
      inputs: ['noise'],
      outputs: ['next', 'eos', 'pcm'],
    })
    chunk.stream = stream
    for (const [name, values] of Object.entries(initial)) stream.write(name, values)
    return stream
  }

  #current(): Chunk {
    if (this.#chunk) return this.#chunk
    throw new Error('a frame was asked for outside start() and end()')
  }
}

const toStep = ({ next, eos, pcm }: Record<string, Float32Array> = {}): Step => {
  if (!next || !eos || !pcm) throw new Error('a run gave no frame')
  return { latent: next, eosLogit: eos[0] ?? Number.NaN, pcm }
}
