import { PocketTtsError } from '../errors.ts'

/** A failure that may pass: no connection, a server that is busy, a body that ended early. Never leaves this folder. */
export class TransientFailure extends Error {
  override readonly name = 'TransientFailure'
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, options: ErrorOptions & { retryAfterMs?: number | undefined } = {}) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs
  }
}

export interface RetryPolicy {
  /** Failures in a row, without a byte gained, after which to give up. */
  readonly attempts: number
  /** Resolves after so many milliseconds; rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })

export const usualRetries: RetryPolicy = { attempts: 5, wait: sleep }

const firstDelayMs = 500
const longestDelayMs = 10_000
/** Whoever is told to come back later than this wants to know it, not to wait. */
const longestRetryAfterMs = 60_000

/** Twice as long after each failure, less a random part, so that many clients do not return as one. */
const backoff = (failures: number): number =>
  Math.min(firstDelayMs * 2 ** (failures - 1), longestDelayMs) * (1 - Math.random() / 4)

/**
 * Runs `attempt` until it succeeds or fails for good. Transient failures are tried again; `hasAdvanced` says, after one,
 * whether it got further than the attempt before, in which case it starts a new row.
 * Throws what is not transient as it is, PocketTtsError `download-failed` in the end, or the signal's reason.
 */
export const withRetries = async <T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
  hasAdvanced: () => boolean = () => false,
): Promise<T> => {
  for (let failures = 1; ; failures++) {
    try {
      signal.throwIfAborted()
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof TransientFailure)) throw error
      if (hasAdvanced()) failures = 1
      const { message, retryAfterMs } = error
      if (retryAfterMs !== undefined && retryAfterMs > longestRetryAfterMs) {
        throw givenUp(`${message}, and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`, error)
      }
      if (failures >= policy.attempts) throw givenUp(`${message}; gave up after ${failures} attempts`, error)
      await policy.wait(Math.max(backoff(failures), retryAfterMs ?? 0), signal)
    }
  }
}

const givenUp = (message: string, cause: unknown): PocketTtsError =>
  new PocketTtsError('download-failed', message, { cause })

/** `Retry-After` in milliseconds from now: seconds, or a date (RFC 9110, 10.2.3). */
export const parseRetryAfter = (header: string | null, now: number): number | undefined => {
  if (header === null) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
