import process from 'node:process'

const signals = ['SIGINT', 'SIGTERM'] as const

/** What whoever started the process wants by its signals: the first asks to stop, the second insists. */
export class Stopping {
  readonly #first = new AbortController()
  readonly #second = new AbortController()
  readonly #listener = (): void => (this.#first.signal.aborted ? this.#second : this.#first).abort()

  constructor() {
    for (const signal of signals) process.on(signal, this.#listener)
  }

  get first(): AbortSignal {
    return this.#first.signal
  }

  get second(): AbortSignal {
    return this.#second.signal
  }

  /** Leaves signals to others again. */
  forget(): void {
    for (const signal of signals) process.off(signal, this.#listener)
  }
}
