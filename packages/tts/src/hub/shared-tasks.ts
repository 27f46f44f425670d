/** What a caller wants of work that it may share with others. */
export interface TaskCaller<P> {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: P) => void) | undefined
}

interface Running<T, P> {
  readonly result: Promise<T>
  readonly stop: AbortController
  readonly listeners: Set<(progress: P) => void>
  callers: number
}

/**
 * Work that is done once for all who ask for the same thing at the same time. Each caller has a signal of its own; the
 * work itself stops when the last caller has gone.
 */
export class SharedTasks<T, P> {
  readonly #running = new Map<string, Running<T, P>>()

  run(
    key: string,
    work: (signal: AbortSignal, onProgress: (progress: P) => void) => Promise<T>,
    { signal, onProgress }: TaskCaller<P> = {},
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const task = this.#running.get(key) ?? this.#start(key, work)
    task.callers++
    // A function of its own for each call: the same listener may be given twice.
    const listener = (progress: P): void => onProgress?.(progress)
    task.listeners.add(listener)
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        signal?.removeEventListener('abort', abandon)
        if (task.listeners.delete(listener)) task.callers--
      }
      const abandon = (): void => {
        leave()
        reject(signal?.reason)
        if (task.callers > 0) return
        // Whoever asks from now on starts anew.
        if (this.#running.get(key) === task) this.#running.delete(key)
        task.stop.abort(signal?.reason)
      }
      signal?.addEventListener('abort', abandon, { once: true })
      task.result.then(resolve, reject).finally(leave)
    })
  }

  #start(
    key: string,
    work: (signal: AbortSignal, onProgress: (progress: P) => void) => Promise<T>,
  ): Running<T, P> {
    const stop = new AbortController()
    const listeners = new Set<(progress: P) => void>()
    const result = work(stop.signal, (progress) => {
      for (const listener of listeners) listener(progress)
    })
    const task: Running<T, P> = { result, stop, listeners, callers: 0 }
    this.#running.set(key, task)
    const forget = (): void => {
      if (this.#running.get(key) === task) this.#running.delete(key)
    }
    result.then(forget, forget)
    return task
  }
}
