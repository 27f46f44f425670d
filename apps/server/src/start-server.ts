import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { SpeechEngine } from '@pocket/tts'
import { type AppHooks, createApp } from './app.ts'
import { parseOptions, type ServerOptions } from './config.ts'
import { ServerError } from './errors.ts'

/** A server that listens. */
export interface RunningServer {
  /** Where it is reached, with the port that it got. */
  readonly url: string
  /** Settles when the engine has died: nothing more will be spoken. */
  readonly engineLost: Promise<unknown>
  /** Takes no new requests and waits for those under way to end. */
  drain(): Promise<void>
  /** Stops those as well, within a frame. The engine is left to whoever loaded it. */
  close(): Promise<void>
}

/** Milliseconds for a whole request to arrive. */
const requestTimeout = 120_000

/** Milliseconds that a connection may pass without a byte: a listener who takes none is gone. */
const silenceTimeout = 300_000

/** Each may hold an upload in memory. */
const maxConnections = 256

/** Milliseconds between looks for connections that have become idle, while the server drains. */
const idleCheck = 50

/**
 * Serves an engine over HTTP. Throws ServerError: `invalid-option`, or `cannot-listen` where the address is taken or
 * not ours.
 */
export const startServer = async (
  engine: SpeechEngine,
  options: ServerOptions = {},
  hooks: AppHooks = {},
): Promise<RunningServer> => {
  const { host, port } = parseOptions(options)
  const app = createApp(engine, options, hooks)
  const server = createAdaptorServer({ fetch: app.fetch }) as Server
  Object.assign(server, { requestTimeout, timeout: silenceTimeout, maxConnections })
  await listen(server, port, host)
  const sockets = track(server)
  let closed: Promise<void> | undefined
  const drain = (): Promise<void> => {
    app.drain()
    closed ??= closeWhenIdle(server)
    return closed
  }
  return {
    url: urlOf(server, host),
    engineLost: app.engineLost,
    drain,
    async close() {
      const drained = drain()
      // Every request has its connection: when that has closed, its work has stopped.
      await Promise.all([...sockets].map((socket) => once(socket.destroy(), 'close')))
      await drained
    },
  }
}

/** Connections that are open. */
const track = (server: Server): ReadonlySet<Socket> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

const listen = async (server: Server, port: number, host: string): Promise<void> => {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'something else listens there; choose another port' : message
    throw new ServerError('cannot-listen', `${host}:${port} cannot be listened on: ${reason}`, { cause })
  }
}

/** Connections that are kept alive for a next request would keep the server open, too. */
const closeWhenIdle = async (server: Server): Promise<void> => {
  const sweep = setInterval(() => server.closeIdleConnections(), idleCheck)
  try {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  } finally {
    clearInterval(sweep)
  }
}

const urlOf = (server: Server, host: string): string => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
