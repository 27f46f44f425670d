import type { Kernels } from '@pocket/nn'
import { PocketTtsError } from '../errors.ts'
import type { NoiseRows, Step } from '../generate/frame-source.ts'
import type { Voice } from '../voices/voice.ts'
import type { FrameStream, StreamingExecutor } from './frame-stream.ts'
import type { SharedVoices } from './shared-voices.ts'
import { Speaker, type SpeakingModel } from './speaker.ts'

/** An executor whose states have lanes: streams side by side that share each reading of a weight. */
export interface LaneExecutor extends Kernels, StreamingExecutor<LaneStream> {
  readonly lanes: number
  stream(...asked: Parameters<StreamingExecutor['stream']>): LaneStream
}

interface LaneStream extends FrameStream {
  submit(
    rows: Record<string, Float32Array>[],
    options?: { readonly active?: readonly boolean[] },
  ): Promise<Record<string, Float32Array>[]>
}

/** One utterance's chunk in its lane. */
interface Seat {
  readonly lane: number
  readonly stream: LaneStream
  readonly noise: NoiseRows
  /** Frames that may still be submitted. */
  left: number
  underWay: number
  readonly made: Step[]
  failure: unknown
  /** Wakes whoever waits for a frame. */
  wake: () => void
}

/** Frames that a lane may be ahead of who listens to it. */
const mostAhead = 4

/** While one submit is computed the others wait: eight lanes took 2.1, 1.4 and 1.25 ms with one, two and three. */
const mostUnderWay = 3

/**
 * Speaks utterances side by side, a frame of each in every run. They join, rest and leave between submits; what one
 * hears does not depend on the others, to the bit. Who finds no lane waits for one.
 */
export class LaneScheduler {
  readonly #model: SpeakingModel
  readonly #executor: LaneExecutor
  readonly #voices: SharedVoices
  readonly #speaker: Speaker<LaneStream>
  readonly #free: number[]
  /** Who waits for a lane, in the order of the calls. */
  readonly #waiting = new Set<(lane: number) => void>()
  readonly #seats = new Set<Seat>()
  /** Who speaks in each lane: as long as somebody does, others find that voice on the device. */
  readonly #heard: (Voice['kv'] | undefined)[] = []
  #underWay = 0

  /** @param capacity positions of a lane: voice, text and frames of a chunk */
  constructor(model: SpeakingModel, executor: LaneExecutor, voices: SharedVoices, capacity: number) {
    this.#model = model
    this.#executor = executor
    this.#voices = voices
    const state = model.flowLm.createState({ kernels: executor, capacity })
    this.#speaker = new Speaker(model, executor, state, () => model.codec.createDecoderPass(executor))
    this.#free = Array.from({ length: executor.lanes }, (_, lane) => lane)
  }

  /**
   * A lane, once there is one, which has read the voice and the text. Throws PocketTtsError `too-long` before that, and
   * the reason of a signal that is aborted meanwhile.
   */
  async join(voice: Voice, ids: Uint32Array, maxFrames: number, signal?: AbortSignal): Promise<number> {
    const needed = voice.kv.positions + ids.length + maxFrames
    const { capacity } = this.#speaker.state
    if (needed > capacity) {
      throw new PocketTtsError(
        'too-long',
        `a chunk needs ${needed} positions and a lane has ${capacity}; add punctuation to split at, or load with lanes: 1`,
      )
    }
    const lane = this.#free.pop() ?? (await this.#nextLane(signal))
    try {
      const adopt = this.#voices.use(voice.kv)
      this.#heard[lane] = voice.kv
      await this.#speaker.begin(lane, adopt, ids)
    } catch (error) {
      this.leave(lane)
      throw error
    }
    return lane
  }

  leave(lane: number): void {
    const heard = this.#heard[lane]
    if (heard) this.#voices.release(heard)
    this.#heard[lane] = undefined
    const [next] = this.#waiting
    if (next) next(lane)
    else this.#free.push(lane)
  }

  /** The lane that is left next. */
  #nextLane(signal: AbortSignal | undefined): Promise<number> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(take)
        signal?.removeEventListener('abort', giveUp)
      }
      const take = (lane: number): void => {
        stop()
        resolve(lane)
      }
      const giveUp = (): void => {
        stop()
        reject(signal?.reason)
      }
      signal?.throwIfAborted()
      signal?.addEventListener('abort', giveUp)
      this.#waiting.add(take)
    })
  }

  /** One frame of one lane, from the latent given. */
  async frame(lane: number, previous: Float32Array | null, noise: Float32Array, lsdSteps: number) {
    const { stream, beginning } = this.#speaker.streamFor(lsdSteps)
    stream.write('latent', previous ?? beginning, lane)
    const [outputs] = await stream.submit([this.#rowsOf([{ lane, noise }])], { active: this.#only([lane]) })
    return this.#stepOf(outputs, lane)
  }

  /** The frames of one lane, on its own latents. */
  async *frames(
    lane: number,
    noise: NoiseRows,
    lsdSteps: number,
    maxFrames: number,
  ): AsyncGenerator<Step, void, void> {
    const { stream, beginning } = this.#speaker.streamFor(lsdSteps)
    stream.write('latent', beginning, lane)
    const seat: Seat = {
      lane,
      stream,
      noise,
      left: maxFrames,
      underWay: 0,
      made: [],
      failure: undefined,
      wake: () => {},
    }
    this.#seats.add(seat)
    try {
      for (let frame = 0; frame < maxFrames; frame++) {
        this.#submitWanted()
        while (seat.made.length === 0 && seat.failure === undefined) {
          await new Promise<void>((resolve) => {
            seat.wake = resolve
          })
        }
        const step = seat.made.shift()
        if (!step) throw seat.failure
        yield step
      }
    } finally {
      this.#seats.delete(seat)
    }
  }

  /** Submits a frame of every lane that wants one, as long as there is room. */
  #submitWanted(): void {
    while (this.#underWay < mostUnderWay) {
      const wanting = [...this.#seats].filter(
        ({ left, underWay, made, failure }) =>
          failure === undefined && left > 0 && underWay + made.length < mostAhead,
      )
      // Who waits longest decides which of the recordings runs.
      const [hungriest] = wanting.toSorted((a, b) => a.made.length + a.underWay - b.made.length - b.underWay)
      if (!hungriest) return
      void this.#submit(
        hungriest.stream,
        wanting.filter(({ stream }) => stream === hungriest.stream),
      )
    }
  }

  async #submit(stream: LaneStream, seats: readonly Seat[]): Promise<void> {
    const rows = this.#rowsOf(seats.map(({ lane, noise }) => ({ lane, noise: noise.next() })))
    for (const seat of seats) {
      seat.left--
      seat.underWay++
    }
    this.#underWay++
    try {
      const [outputs] = await stream.submit([rows], { active: this.#only(seats.map(({ lane }) => lane)) })
      for (const seat of seats) seat.made.push(this.#stepOf(outputs, seat.lane))
    } catch (error) {
      for (const seat of seats) seat.failure = error
    }
    this.#underWay--
    for (const seat of seats) {
      seat.underWay--
      seat.wake()
    }
    this.#submitWanted()
  }

  /** The noise of all lanes, zeros where one rests: `[lanes, latentDim]` */
  #rowsOf(rows: readonly { lane: number; noise: Float32Array }[]): Record<string, Float32Array> {
    const { latentDim } = this.#model.codec.config
    const all = new Float32Array(this.#executor.lanes * latentDim)
    for (const { lane, noise } of rows) all.set(noise, lane * latentDim)
    return { noise: all }
  }

  #only(lanes: readonly number[]): boolean[] {
    return Array.from({ length: this.#executor.lanes }, (_, lane) => lanes.includes(lane))
  }

  #stepOf({ next, eos, pcm }: Record<string, Float32Array> = {}, lane: number): Step {
    if (!next || !eos || !pcm) throw new Error('a run gave no frame')
    const of = (values: Float32Array): Float32Array => {
      const length = values.length / this.#executor.lanes
      return values.slice(lane * length, (lane + 1) * length)
    }
    return { latent: of(next), eosLogit: of(eos)[0] ?? Number.NaN, pcm: of(pcm) }
  }
}
