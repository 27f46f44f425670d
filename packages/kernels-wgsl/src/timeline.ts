/**
 * The order in which work reaches the device's queue: that of the calls. A job whose pipelines are still being compiled
 * holds back those behind it; with nothing to wait for, a job is done at once.
 */
export class Timeline {
  #last: Promise<void> | undefined

  /** Does `job` when everything before it has been done and `ready` has resolved. Rejects as `ready` or the job does. */
  enqueue<T>(ready: Promise<void> | undefined, job: () => T): Promise<T> {
    if (!this.#last && !ready) return attempt(job)
    const before = this.#last ?? Promise.resolve()
    const result = before.then(() => ready).then(job)
    const last: Promise<void> = result.then(
      () => this.#settle(last),
      () => this.#settle(last),
    )
    this.#last = last
    return result
  }

  /** Resolves when all work given so far has reached the queue. */
  drained(): Promise<void> {
    return this.#last ?? Promise.resolve()
  }

  #settle(last: Promise<void>): void {
    if (this.#last === last) this.#last = undefined
  }
}

const attempt = <T>(job: () => T): Promise<T> => {
  try {
    return Promise.resolve(job())
  } catch (error) {
    return Promise.reject(error)
  }
}
