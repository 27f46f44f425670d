/**
 * An async generator whose `return()` does not wait: a plain one, asked to end while it waits for input, answers only
 * when the input comes. `onReturn` must make what it waits for fail.
 */
export class ClosableIterator<T> implements AsyncIterableIterator<T, void, void> {
  readonly #generator: AsyncGenerator<T, void, void>
  readonly #onReturn: () => void
  #closed = false

  constructor(generator: AsyncGenerator<T, void, void>, onReturn: () => void) {
    this.#generator = generator
    this.#onReturn = onReturn
  }

  async next(): Promise<IteratorResult<T, void>> {
    try {
      return await this.#generator.next()
    } catch (error) {
      // What `onReturn` made fail is no failure of the reader's.
      if (this.#closed) return { done: true, value: undefined }
      throw error
    }
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.#closed = true
    this.#onReturn()
    await this.#generator.return().catch(() => {})
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
