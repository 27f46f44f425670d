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

/** One utterance's chunk, and its lane for as long as it needs one. */
export interface Seat {
  readonly lane: number
  /** Its voice, once it has one on the device. */
  kv: Voice['kv'] | undefined
  /** Whether the lane has gone to others by now. */
  hasLeft: boolean
}

/** The frames of a chunk that are on their way to who listens. */
interface Reading {
  readonly seat: Seat
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

/** Frames that a lane may be ahead of who listens to it, while nobody waits for a lane. */
const mostAhead = 4

/** While one submit is computed the others wait: eight lanes took 2.1, 1.4 and 1.25 ms with one, two and three. */
const mostUnderWay = 3

/**
 * Speaks utterances side by side, a frame of each in every run. They join, rest and leave between submits; what one
 * hears does not depend on the others, to the bit. Who finds no lane waits for one.
 *
 * Who listens slowly keeps nobody waiting: as soon as somebody waits, chunks are made to their greatest length, into
 * memory, and a chunk that is made needs no lane any more.
 */
export class LaneScheduler {
  readonly #model: SpeakingModel
  readonly #executor: LaneExecutor
  readonly #voices: SharedVoices
  readonly #speaker: Speaker<LaneStream>
  readonly #free: number[]
  /** Who waits for a lane, in the order of the calls. */
  readonly #waiting = new Set<(lane: number) => void>()
  readonly #readings = new Set<Reading>()
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
   * A seat, once there is a lane, which has read the voice and the text. Throws PocketTtsError `too-long` before that, and
   * the reason of a signal that is aborted meanwhile.
   */
  async join(voice: Voice, ids: Uint32Array, maxFrames: number, signal?: AbortSignal): Promise<Seat> {
    const needed = voice.kv.positions + ids.length + maxFrames
    const { capacity } = this.#speaker.state
    if (needed > capacity) {
      throw new PocketTtsError(
        'too-long',
        `a chunk needs ${needed} positions and a lane has ${capacity}; add punctuation to split at, or load with lanes: 1`,
      )
    }
    const lane = this.#free.pop() ?? (await this.#nextLane(signal))
    const seat: Seat = { lane, kv: undefined, hasLeft: false }
    try {
      const adopt = this.#voices.use(voice.kv)
      seat.kv = voice.kv
      await this.#speaker.begin(lane, adopt, ids)
    } catch (error) {
      this.leave(seat)
      throw error
    }
    return seat
  }

  /** Gives the lane to the next. A second call does nothing. */
  leave(seat: Seat): void {
    if (seat.hasLeft) return
    seat.hasLeft = true
    // As long as somebody speaks with a voice, others find it on the device.
    if (seat.kv) this.#voices.release(seat.kv)
    const [next] = this.#waiting
    if (next) next(seat.lane)
    else this.#free.push(seat.lane)
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
      // Lanes that rest go on, since somebody waits.
      this.#submitWanted()
    })
  }

  /** One frame of one lane, from the latent given. */
  async frame({ lane }: Seat, previous: Float32Array | null, noise: Float32Array, lsdSteps: number) {
    const { stream, beginning } = this.#speaker.streamFor(lsdSteps)
    stream.write('latent', previous ?? beginning, lane)
    const [outputs] = await stream.submit([this.#rowsOf([{ lane, noise }])], { active: this.#only([lane]) })
    return this.#stepOf(outputs, lane)
  }

  /** The frames of one seat, on its own latents. */
  async *frames(
    seat: Seat,
    noise: NoiseRows,
    lsdSteps: number,
    maxFrames: number,
  ): AsyncGenerator<Step, void, void> {
    const { stream, beginning } = this.#speaker.streamFor(lsdSteps)
    stream.write('latent', beginning, seat.lane)
    const reading: Reading = {
      seat,
      stream,
      noise,
      left: maxFrames,
      underWay: 0,
      made: [],
      failure: undefined,
      wake: () => {},
    }
    this.#readings.add(reading)
    try {
      for (let frame = 0; frame < maxFrames; frame++) {
        this.#submitWanted()
        while (reading.made.length === 0 && reading.failure === undefined) {
          await new Promise<void>((resolve) => {
            reading.wake = resolve
          })
        }
        const step = reading.made.shift()
        if (!step) throw reading.failure
        yield step
      }
    } finally {
      this.#readings.delete(reading)
    }
  }

  /** Submits a frame of every lane that wants one, as long as there is room. */
  #submitWanted(): void {
    while (this.#underWay < mostUnderWay) {
      const wanting = [...this.#readings].filter((reading) => this.#wantsFrame(reading))
      // Who waits longest decides which of the recordings runs.
      const [hungriest] = wanting.toSorted((a, b) => a.made.length + a.underWay - b.made.length - b.underWay)
      if (!hungriest) return
      void this.#submit(
        hungriest.stream,
        wanting.filter(({ stream }) => stream === hungriest.stream),
      )
    }
  }

  #wantsFrame({ left, underWay, made, failure }: Reading): boolean {
    if (failure !== undefined || left === 0) return false
    return underWay + made.length < mostAhead || this.#waiting.size > 0
  }

  async #submit(stream: LaneStream, readings: readonly Reading[]): Promise<void> {
    const rows = this.#rowsOf(readings.map(({ seat, noise }) => ({ lane: seat.lane, noise: noise.next() })))
    for (const reading of readings) {
      reading.left--
      reading.underWay++
    }
    this.#underWay++
    try {
      const active = this.#only(readings.map(({ seat }) => seat.lane))
      const [outputs] = await stream.submit([rows], { active })
      for (const reading of readings) reading.made.push(this.#stepOf(outputs, reading.seat.lane))
    } catch (error) {
      for (const reading of readings) reading.failure = error
    }
    this.#underWay--
    for (const reading of readings) {
      reading.underWay--
      const isOver = reading.left === 0 || reading.failure !== undefined
      if (isOver && reading.underWay === 0) this.leave(reading.seat)
      reading.wake()
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
