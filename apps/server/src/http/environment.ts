import type { Logger } from 'pino'

/** What a request carries from its middleware to its handler. */
export interface Environment {
  Variables: {
    requestId: string
    log: Logger
    /** Aborted when the caller goes away. */
    callerLeft: AbortSignal
  }
}
