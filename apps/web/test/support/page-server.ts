import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The page as it is published. */
export const builtPage = fileURLToPath(new URL('../../dist', import.meta.url))

export interface PageServer {
  readonly url: string
  /** Paths asked for so far, in order. */
  readonly requests: string[]
  close(): Promise<void>
}

export interface PageServerOptions {
  readonly folder?: string
  readonly port?: number
  readonly headers?: Record<string, string>
  /** Files that are not in the folder, by path. */
  readonly extra?: Record<string, string>
  /** Answered with 404, though they are there. */
  readonly missing?: RegExp
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

export const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
}

/** A static server that does nothing else: what any host of files does. */
export const servePage = async (options: PageServerOptions = {}): Promise<PageServer> => {
  const { folder = builtPage, headers = {}, extra = {}, missing, port = 0 } = options
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    requests.push(pathname)
    const path = pathname === '/' ? '/index.html' : pathname
    const type = types[extname(path)] ?? 'application/octet-stream'
    const file = join(folder, path)
    if (extra[path] !== undefined) {
      response.writeHead(200, { 'content-type': type, ...headers }).end(extra[path])
    } else if (missing?.test(path) || !existsSync(file)) {
      response.writeHead(404).end()
    } else {
      const length = statSync(file).size
      response.writeHead(200, { 'content-type': type, 'content-length': length, ...headers })
      createReadStream(file).pipe(response)
    }
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${actual}/`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
