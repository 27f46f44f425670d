/** Gives a turn back; calling it again does nothing. */
export type Release = () => void

/** Nobody else may wait; come back in so many seconds. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
  readonly retryAfter: number

  constructor(retryAfter: number) {
    super(`every place in the queue is taken; try again in ${retryAfter} s`)
    this.retryAfter = retryAfter
  }
}

/** Nobody is told to stay away longer than this, in seconds: the estimate is a guess. */
const longestRetryAfter = 60

/** Lets a number of callers work at once, a number of others wait in order, and sends the rest away. */
export class WorkQueue {
  readonly #concurrency: number
  readonly #places: number
  readonly #waiting: (() => void)[] = []
  #running = 0
  /** Seconds that a turn takes: a mean in which older turns count ever less. */
  #turnSeconds = 1

  constructor(concurrency: number, places: number) {
    this.#concurrency = concurrency
    this.#places = places
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Waits for a turn. Throws QueueFullError at once, or the signal's reason while waiting. */
  async enter(signal: AbortSignal): Promise<Release> {
    signal.throwIfAborted()
    if (this.#running < this.#concurrency) this.#running++
    else await this.#wait(signal)
    const start = performance.now()
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#turnSeconds = 0.8 * this.#turnSeconds + 0.2 * ((performance.now() - start) / 1000)
      this.#passOn()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#places) throw new QueueFullError(this.#retryAfter())
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal.reason)
      }
      const begin = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(begin)
    })
  }

  /** A turn goes from hand to hand, so that nobody slips in before those who wait. */
  #passOn(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }

  #retryAfter(): number {
    const seconds = ((this.#waiting.length + 1) * this.#turnSeconds) / this.#concurrency
    return Math.min(longestRetryAfter, Math.max(1, Math.ceil(seconds)))
  }
}
