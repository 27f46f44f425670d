/** Frames that may be made before any more are asked for. */
export class Credits {
  #count: number
  readonly #signal: AbortSignal
  #wake: (() => void) | undefined

  constructor(count: number, signal: AbortSignal) {
    this.#count = count
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake?.())
  }

  add(): void {
    this.#count++
    this.#wake?.()
  }

  /** Waits for a credit and uses it up. Throws the signal's reason. */
  async take(): Promise<void> {
    while (this.#count === 0 && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#signal.throwIfAborted()
    this.#count--
  }
}
