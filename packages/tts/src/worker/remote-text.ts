import { CallerError } from './pack-error.ts'

interface Reader {
  resolve(next: IteratorResult<string, void>): void
  reject(error: unknown): void
}

/** The caller's text, in the worker: each piece is asked for when it is needed. */
export class RemoteText implements AsyncIterableIterator<string, void, void> {
  readonly #ask: () => void
  #reader: Reader | undefined

  constructor(ask: () => void) {
    this.#ask = ask
  }

  /** Calls must wait for one another, as a `for await` does. */
  next(): Promise<IteratorResult<string, void>> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#ask()
    })
  }

  /** What the caller answers; undefined at the end of the text. */
  answer(piece: string | undefined): void {
    this.#reader?.resolve(
      piece === undefined ? { done: true, value: undefined } : { done: false, value: piece },
    )
  }

  fail(): void {
    this.#reader?.reject(new CallerError())
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
