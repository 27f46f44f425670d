/** Runs tasks one after another, in the order they were given; one that fails does not stop those behind it. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => {})
    return result
  }
}
