import { type AudioFrame, PocketTtsError, type SpeechEngine, type Voice } from '@pocket/tts'
import { createEncoder } from '../encoders/create-encoder.ts'
import type { Format } from '../encoders/formats.ts'
import { type Outcome, Turn } from './turn.ts'
import type { WorkQueue } from './work-queue.ts'

/** Something to say. */
export interface Utterance {
  readonly text: string
  /** A voice's name; or what makes one, called when the turn has come: cloning is work, too. */
  readonly voice: string | undefined | ((signal: AbortSignal) => Promise<Voice>)
  readonly format: Format
  readonly seed?: number | undefined
  readonly temperature?: number | undefined
}

export interface Speech {
  readonly body: ReadableStream<Uint8Array>
  /** Frames of 80 ms so far. */
  readonly frames: () => number
}

/**
 * Bytes that may be ready before their reader takes them. A player reads no faster than it plays: without room ahead it
 * would hold its turn for as long as the speech lasts, which is many times longer than speaking takes.
 */
const bytesAhead = 4 * 1024 * 1024

/** Speaks for many callers with one engine: in turn, encoded as it goes, and no longer than somebody listens. */
export class SpeechService {
  readonly #engine: SpeechEngine
  readonly #queue: WorkQueue
  readonly #onEngineLost: (error: unknown) => void
  readonly #stop = new AbortController()

  /** `onEngineLost` is called when the engine has died and will speak no more. */
  constructor(engine: SpeechEngine, queue: WorkQueue, onEngineLost: (error: unknown) => void) {
    this.#engine = engine
    this.#queue = queue
    this.#onEngineLost = onEngineLost
  }

  /**
   * Waits for a turn and for the first frame, so that whatever is wrong is thrown before an answer has begun. Speaking
   * stops within a frame when `signal` is aborted or the body is cancelled. `onEnd` is called once, when the turn is
   * over. Throws QueueFullError, the errors of the engine's `stream`, or the signal's reason.
   */
  async speak(utterance: Utterance, caller: AbortSignal, onEnd: (outcome: Outcome) => void): Promise<Speech> {
    const stop = this.#stop.signal
    const entered = performance.now()
    const release = await this.#queue.enter(AbortSignal.any([caller, stop]))
    const turn = new Turn(performance.now() - entered, { caller, stop }, (outcome) => {
      release()
      onEnd(outcome)
      if (isLost(outcome.error)) this.#onEngineLost(outcome.error)
    })
    try {
      const encoder = await createEncoder(utterance.format, this.#engine.sampleRate)
      const frames = await turn.begin(await this.#stream(utterance, turn))
      turn.signal.throwIfAborted()
      const ahead = new TransformStream<Uint8Array, Uint8Array>(
        undefined,
        undefined,
        new ByteLengthQueuingStrategy({ highWaterMark: bytesAhead }),
      )
      return { body: frames.pipeThrough(encoder).pipeThrough(ahead), frames: () => turn.frames }
    } catch (error) {
      turn.fail(error)
      throw error
    }
  }

  /** Stops everything that is under way, within a frame. */
  stop(reason: unknown): void {
    this.#stop.abort(reason)
  }

  async #stream(
    { text, voice, seed, temperature }: Utterance,
    turn: Turn,
  ): Promise<AsyncIterator<AudioFrame>> {
    const { signal } = turn
    const speaker = typeof voice === 'function' ? await voice(signal) : voice
    const frames = this.#engine.stream(text, {
      voice: speaker,
      seed,
      temperature,
      signal,
      onWarning: ({ code }) => turn.warnings.push(code),
    })
    return frames[Symbol.asyncIterator]()
  }
}

/** Codes of errors after which an engine speaks no more. One that lost its GPU opens it anew when it speaks next. */
const deaths: ReadonlySet<string> = new Set(['worker-failed', 'disposed'])

/** Whether the error says that the engine has died. */
export const isLost = (error: unknown): boolean => error instanceof PocketTtsError && deaths.has(error.code)
