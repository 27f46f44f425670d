import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { serveStatic } from '@hono/node-server/serve-static'
import { createMiddleware } from 'hono/factory'
import { secureHeaders } from 'hono/secure-headers'
import { ServerError } from '../errors.ts'

// `src/routes/` and what is built of it are not equally deep below the package; its manifest marks its folder.
const home = (): URL => {
  const candidates = [new URL('../../', import.meta.url), new URL('../', import.meta.url)]
  return candidates.find((folder) => existsSync(new URL('page/index.html', folder)))!
}

/** The page of this package, whose style the description of the API has as well. */
export const ownPage = (): string => fileURLToPath(new URL('page', home()))

/** The folder of the page: the one asked for, else the web app beside this package where it is built, else our own. */
export const pageFolder = (configured: string | undefined): string => {
  if (configured !== undefined) {
    if (existsSync(configured)) return configured
    throw new ServerError('invalid-option', `page: there is no folder ${configured}`)
  }
  const web = fileURLToPath(new URL('../web/dist', home()))
  return existsSync(web) ? web : ownPage()
}

/** `GET /` and the files of the page. */
export const servePage = (folder: string) => serveStatic({ root: folder })

/**
 * The page may load only what is here. Isolated from other origins it may also use threads, which share memory;
 * WebAssembly needs its own permission.
 */
export const pageHeaders = () => {
  const secure = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'", "'wasm-unsafe-eval'"],
      workerSrc: ["'self'", 'blob:'],
      connectSrc: ["'self'", 'blob:', 'data:'],
      imgSrc: ["'self'", 'data:'],
      mediaSrc: ["'self'", 'blob:'],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    crossOriginEmbedderPolicy: 'require-corp',
    crossOriginOpenerPolicy: 'same-origin',
    strictTransportSecurity: false,
  })
  return createMiddleware((c, next) =>
    c.req.method === 'GET' || c.req.method === 'HEAD' ? secure(c, next) : next(),
  )
}
