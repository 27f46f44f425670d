import { createMiddleware } from 'hono/factory'
import type { Logger } from 'pino'
import type { Environment } from './environment.ts'

/**
 * One line for every request when its answer begins: what was asked, never what was said. Query strings and headers are
 * left out, since people put secrets there.
 */
export const requestLog = (log: Logger) =>
  createMiddleware<Environment>(async (c, next) => {
    const start = performance.now()
    c.set('log', log.child({ requestId: c.get('requestId') }))
    await next()
    const { method, path } = c.req
    const { status } = c.res
    const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info'
    c.get('log')[level]({ method, path, status, ms: Math.round(performance.now() - start) }, 'request')
  })
