import { createMiddleware } from 'hono/factory'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { ApiError } from './api-error.ts'
import type { Environment } from './environment.ts'

/** Not an official status: what nginx logs for callers who leave. Nobody receives it. */
const callerLeftStatus = 499 as ContentfulStatusCode

/** Gives handlers the signal of a caller who leaves. Its reason is an error, which the socket's own need not be. */
export const watchCaller = () =>
  createMiddleware<Environment>(async (c, next) => {
    const controller = new AbortController()
    const leave = (): void => {
      controller.abort(new ApiError('the caller has left', { status: callerLeftStatus, code: 'caller_left' }))
    }
    const { signal } = c.req.raw
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    c.set('callerLeft', controller.signal)
    await next()
  })
