import { PocketTtsError } from '../errors.ts'

/** One call under way: what may stop it, from outside or within, in one signal. */
export class Job {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #onEnd: (job: Job) => void
  readonly #abortByCaller = () => this.abort(this.#caller?.reason)

  /** Throws the caller's reason where the call is already aborted. */
  constructor(caller: AbortSignal | undefined, onEnd: (job: Job) => void) {
    caller?.throwIfAborted()
    this.#caller = caller
    this.#onEnd = onEnd
    caller?.addEventListener('abort', this.#abortByCaller)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** Lets go of the caller's signal. */
  end(): void {
    this.#caller?.removeEventListener('abort', this.#abortByCaller)
    this.#onEnd(this)
  }
}

/** The calls under way on one instance, and whether it may begin more. */
export class Jobs {
  readonly #running = new Set<Job>()
  readonly #onIdle: () => void
  #disposed = false

  /** `onIdle` is called once, after `dispose`, when nothing is under way any more. */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle
  }

  /** Throws PocketTtsError `disposed`, or the reason of a signal that is already aborted. */
  begin(caller?: AbortSignal): Job {
    this.check()
    const job = new Job(caller, (ended) => this.#end(ended))
    this.#running.add(job)
    return job
  }

  /** Throws PocketTtsError `disposed`. */
  check(): void {
    if (this.#disposed) throw disposedError()
  }

  /** Stops what is under way; each call rejects with `disposed` within a frame. */
  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    for (const job of this.#running) job.abort(disposedError())
    if (this.#running.size === 0) this.#onIdle()
  }

  #end(job: Job): void {
    const wasRunning = this.#running.delete(job)
    if (wasRunning && this.#disposed && this.#running.size === 0) this.#onIdle()
  }
}

const disposedError = (): PocketTtsError =>
  new PocketTtsError('disposed', 'this PocketTts was disposed; load another')

/** The promise's outcome, or the signal's reason if that comes first: then nobody hears of the outcome, be it an error. */
export const orAborted = async <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  let stop = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
