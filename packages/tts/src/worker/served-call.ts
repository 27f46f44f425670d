import type { NoiseSource } from '../noise/noise-source.ts'
import { Credits } from './credits.ts'
import type { CallerLink } from './link.ts'
import { CallerError } from './pack-error.ts'
import { RemoteText } from './remote-text.ts'
import { awaitRow, createRow } from './shared-row.ts'

/** One call under way, on the worker's side: what it hears from its caller, and what it asks of it. */
export class ServedCall {
  readonly id: number
  readonly signal: AbortSignal
  readonly text: RemoteText
  readonly noise: NoiseSource
  /** Frames of a stream that may be made before more are taken. */
  readonly credits: Credits
  readonly #controller = new AbortController()

  constructor(id: number, credits: number, caller: CallerLink) {
    this.id = id
    this.signal = this.#controller.signal
    this.credits = new Credits(credits, this.signal)
    this.text = new RemoteText(() => caller.post({ id, report: 'text-wanted' }))
    this.noise = {
      next(length) {
        const row = createRow(length)
        caller.post({ id, report: 'noise-wanted', row })
        const values = awaitRow(row)
        if (values) return values
        throw new CallerError()
      },
    }
  }

  abort(): void {
    this.#controller.abort(new CallerError())
  }
}
