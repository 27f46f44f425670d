import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { cors } from 'hono/cors'
import { createMiddleware } from 'hono/factory'
import { ApiError } from './api-error.ts'

/** Lets only those in who send the key as a bearer token. */
export const requireKey = (apiKey: string) => {
  const expected = digest(apiKey)
  return createMiddleware(async (c, next) => {
    const given = /^Bearer +(.+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    // Digests have one length, so that the comparison takes the same time whatever was sent.
    if (given === undefined || !timingSafeEqual(digest(given.trim()), expected)) {
      throw new ApiError(
        given === undefined
          ? 'this server wants an API key: send it in a header, Authorization: Bearer YOUR_KEY'
          : 'the API key is not the one of this server',
        { status: 401, code: 'invalid_api_key', headers: { 'www-authenticate': 'Bearer' } },
      )
    }
    await next()
  })
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Web pages of other origins are refused unless listed. Without this, any page that somebody visits could have the
 * server on their own machine speak: a browser sends forms across origins and only hides the answer.
 */
export const refuseForeignPages = (allowed: readonly string[]) =>
  createMiddleware(async (c, next) => {
    const origin = c.req.header('origin')
    if (origin !== undefined && !isOwn(origin, c) && !allowed.includes('*') && !allowed.includes(origin)) {
      throw new ApiError(
        `pages of ${origin} may not call this server; start it with --cors-origin ${origin}`,
        {
          status: 403,
          code: 'origin_not_allowed',
        },
      )
    }
    await next()
  })

/** Only the host is compared: behind a proxy the scheme may be another than the browser's. */
const isOwn = (origin: string, c: Context): boolean =>
  URL.canParse(origin) && new URL(origin).host === c.req.header('host')

export const allowOrigins = (origins: readonly string[]) =>
  cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowMethods: ['GET', 'POST'],
    exposeHeaders: ['x-request-id', 'retry-after'],
    maxAge: 600,
  })
