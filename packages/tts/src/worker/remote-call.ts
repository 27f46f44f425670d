import type { AudioFrame, GenerateProgress, Warning } from '../generate/utterance.ts'
import type { LoadProgress } from '../load-options.ts'
import type { NoiseSource } from '../noise/noise-source.ts'
import { checkPiece } from '../stream/sentences.ts'
import { unpackError } from './pack-error.ts'
import type { Command, Report } from './protocol.ts'
import { fillRow } from './shared-row.ts'

/** What a call needs of its caller while it is under way. */
export interface CallHooks {
  readonly signal?: AbortSignal | undefined
  readonly text?: AsyncIterable<string> | undefined
  readonly noise?: NoiseSource | undefined
  readonly onFrame?: ((frame: AudioFrame) => void) | undefined
  readonly onLoadProgress?: ((progress: LoadProgress) => void) | undefined
  readonly onProgress?: ((progress: GenerateProgress) => void) | undefined
  readonly onWarning?: ((warning: Warning) => void) | undefined
}

interface Owner {
  send(command: Command): void
  /** The call is over. */
  forget(id: number): void
}

/** One call under way in the worker, on the caller's side. */
export class RemoteCall<Result> {
  readonly id: number
  readonly result: Promise<Result>
  readonly #owner: Owner
  readonly #hooks: CallHooks
  #resolve: (result: Result) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #text: AsyncIterator<string> | undefined
  /** What the caller's own text or noise threw: it never travels. */
  #callersError: unknown
  #isOver = false
  readonly #abortBySignal = (): void => this.abort(this.#hooks.signal?.reason)

  constructor(id: number, hooks: CallHooks, owner: Owner) {
    this.id = id
    this.#hooks = hooks
    this.#owner = owner
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    hooks.signal?.addEventListener('abort', this.#abortBySignal)
  }

  get signal(): AbortSignal | undefined {
    return this.#hooks.signal
  }

  /** Lets the worker make one frame more. */
  credit(): void {
    this.#owner.send({ id: this.id, command: 'credit' })
  }

  /** Rejects at once; the worker stops within a frame. Does nothing to a call that is over. */
  abort(error: unknown): void {
    if (this.#isOver) return
    this.#owner.send({ id: this.id, command: 'abort' })
    this.fail(error)
  }

  fail(error: unknown): void {
    this.#end()
    this.#reject(error)
  }

  handle(report: Report): void {
    try {
      this.#handle(report)
    } catch (error) {
      // A callback threw: as on the calling thread, that ends the call.
      this.abort(error)
    }
  }

  #handle(report: Report): void {
    const { onFrame, onLoadProgress, onProgress, onWarning } = this.#hooks
    switch (report.report) {
      case 'done':
        this.#end()
        this.#resolve(report.result as Result)
        break
      case 'failed':
        this.fail(report.error ? unpackError(report.error) : this.#callersError)
        break
      case 'frame':
        onFrame?.(report.frame)
        break
      case 'load-progress':
        onLoadProgress?.(report.progress)
        break
      case 'progress':
        onProgress?.(report.progress)
        break
      case 'warning':
        onWarning?.(report.warning)
        break
      case 'text-wanted':
        void this.#sendText()
        break
      case 'noise-wanted':
        this.#drawNoise(report.row)
        break
    }
  }

  async #sendText(): Promise<void> {
    const { id } = this
    try {
      this.#owner.send({ id, command: 'text', piece: await this.#nextPiece() })
    } catch (error) {
      this.#callersError = error
      this.#owner.send({ id, command: 'text-failed' })
    }
  }

  /** Undefined at the end of the text. */
  async #nextPiece(): Promise<string | undefined> {
    let isOver = true
    try {
      this.#text ??= this.#hooks.text?.[Symbol.asyncIterator]()
      const next = await this.#text?.next()
      if (!next || next.done) return undefined
      isOver = false
      return checkPiece(next.value)
    } finally {
      // Nobody leaves an iterator that has ended, or failed, by itself.
      if (isOver) this.#text = undefined
    }
  }

  #drawNoise(row: SharedArrayBuffer): void {
    try {
      fillRow(row, this.#hooks.noise)
    } catch (error) {
      this.#callersError = error
    }
  }

  #end(): void {
    this.#isOver = true
    this.#owner.forget(this.id)
    this.#hooks.signal?.removeEventListener('abort', this.#abortBySignal)
    void this.#leaveText()
  }

  /** Nobody waits for this: a generator that waits for its own input answers only when that comes. */
  async #leaveText(): Promise<void> {
    try {
      await this.#text?.return?.()
    } catch {
      // The call is over; its caller has been told why.
    }
  }
}
