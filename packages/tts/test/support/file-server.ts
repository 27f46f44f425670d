import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FileServer extends AsyncDisposable {
  /** Ends in `/`. */
  readonly url: string
  /** Paths asked for, in order. */
  readonly asked: string[]
}

type Files = Readonly<
  Record<string, Uint8Array | ((request: IncomingMessage, response: ServerResponse) => void)>
>

/** A server on this machine with some files; `missing` answers for all others. */
export const serveFiles = async (files: Files, missing?: string): Promise<FileServer> => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    asked.push(path)
    const file = Object.hasOwn(files, path) ? files[path] : undefined
    if (typeof file === 'function') file(request, response)
    else if (file) response.writeHead(200, { 'content-length': file.length }).end(file)
    else if (missing) response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(missing)
    else response.writeHead(404).end('no such file')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
