import type { AudioFrame } from '../generate/utterance.ts'
import type { Connection } from './connection.ts'
import type { RemoteCall } from './remote-call.ts'

type Next = IteratorResult<AudioFrame, void>

interface Reader {
  resolve(next: Next): void
  reject(error: unknown): void
}

const over: Next = { done: true, value: undefined }

/**
 * The frames of one utterance as they come from the worker. Nothing is asked of it before the first `next()`, and each
 * frame taken lets it make one more: it is never further ahead than the credit it was given at the beginning.
 */
export class FrameStream implements AsyncIterableIterator<AudioFrame, void, void> {
  readonly #connection: Connection
  readonly #begin: (onFrame: (frame: AudioFrame) => void) => RemoteCall<undefined>
  readonly #frames: AudioFrame[] = []
  readonly #readers: Reader[] = []
  #call: RemoteCall<undefined> | undefined
  #isOver = false
  /** Set while an error waits for the frames before it to be taken. */
  #failure: { readonly error: unknown } | undefined

  /** `begin` starts the call; it may throw, which is what the first `next()` then rejects with. */
  constructor(
    connection: Connection,
    begin: (onFrame: (frame: AudioFrame) => void) => RemoteCall<undefined>,
  ) {
    this.#connection = connection
    this.#begin = begin
  }

  async next(): Promise<Next> {
    if (!this.#call && !this.#isOver) this.#start()
    // No frame is handed over after an abort, whether it was made before or not.
    if (this.#call?.signal?.aborted && this.#frames.length > 0) {
      this.#drop()
      throw this.#call.signal.reason
    }
    const frame = this.#frames.shift()
    if (frame) return this.#take(frame)
    if (this.#failure) {
      const { error } = this.#failure
      this.#failure = undefined
      throw error
    }
    if (this.#isOver) return over
    return this.#connection.awaited(new Promise((resolve, reject) => this.#readers.push({ resolve, reject })))
  }

  async return(): Promise<Next> {
    this.#drop()
    this.#call?.abort(undefined)
    return over
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #start(): void {
    try {
      this.#call = this.#begin((frame) => this.#receive(frame))
    } catch (error) {
      this.#isOver = true
      throw error
    }
    this.#call.result.then(
      () => this.#finish(),
      (error: unknown) => this.#fail(error),
    )
  }

  #take(frame: AudioFrame): Next {
    this.#call?.credit()
    return { done: false, value: frame }
  }

  #receive(frame: AudioFrame): void {
    const reader = this.#readers.shift()
    if (reader) reader.resolve(this.#take(frame))
    else this.#frames.push(frame)
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    const reader = this.#readers.shift()
    if (reader) reader.reject(error)
    else this.#failure = { error }
    this.#finish()
  }

  /** Forgets what was not read. */
  #drop(): void {
    this.#frames.length = 0
    this.#failure = undefined
    this.#finish()
  }

  /** Whoever still waits gets the end. */
  #finish(): void {
    this.#isOver = true
    for (const reader of this.#readers.splice(0)) reader.resolve(over)
  }
}
