import { TransientFailure } from './retry.ts'

export interface BodyOptions {
  /** Names the file in messages. */
  readonly place: string
  readonly signal: AbortSignal
  /** Silence for so long is a failure. */
  readonly stallMs: number
}

/**
 * The pieces of a body as they come. Whatever ends the loop cancels the body, and with it the connection. Throws
 * TransientFailure where the connection breaks or stalls, or the signal's reason.
 */
export async function* bodyPieces(
  response: Response,
  { place, signal, stallMs }: BodyOptions,
): AsyncGenerator<Uint8Array, void> {
  // Through a reader, since Safari's streams are not iterable.
  const reader = response.body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await within(stallMs, signal, place, reader.read())
      if (done) return
      yield value
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof TransientFailure) throw cause
    throw new TransientFailure(`${place}: the connection broke (${reasonOf(cause)})`, { cause })
  } finally {
    // Not awaited: a body that stalls may never answer. Of one that failed this repeats the failure.
    reader.cancel().catch(() => {})
  }
}

const within = <T>(ms: number, signal: AbortSignal, place: string, reading: Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    const stalled = (): void =>
      reject(new TransientFailure(`${place}: nothing came for ${Math.round(ms / 1000)} s`))
    const timer = setTimeout(stalled, ms)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    reading.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    })
  })

/** What fetch hides behind `fetch failed` and `terminated` is in the cause. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  return cause.message || code || error.message
}
