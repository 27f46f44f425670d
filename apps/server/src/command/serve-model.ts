import process from 'node:process'
import { mini } from '@pocket/mini'
import { loadInWorker } from '@pocket/tts'
import { type Logger, pino } from 'pino'
import { ServerError } from '../errors.ts'
import { type RunningServer, startServer } from '../start-server.ts'
import type { CommandLine } from './command-line.ts'
import type { Stopping } from './stopping.ts'

/** Loads a model into a thread of its own and serves it until told to stop. Throws ServerError or PocketTtsError. */
export const serveModel = async (
  { model, loading, options, logLevel }: CommandLine,
  stopping: Stopping,
): Promise<void> => {
  const log: Logger = pino({ level: logLevel })
  const engine = await loadInWorker(model ?? mini, { ...loading, signal: stopping.first })
  try {
    const server = await startServer(engine, options, { log })
    const { config, threads, backend } = engine
    for (const { code, message } of engine.warnings) log.warn({ code }, message)
    const { name, simd, adapter, reason } = backend
    log.info(
      { url: server.url, model: config.modelId, backend: name, adapter, reason, simd, threads },
      'listening',
    )
    greet(server)
    await untilStopped(server, stopping, log)
  } finally {
    engine.dispose()
  }
}

/** For people who start it by hand; a service manager reads the log. */
const greet = ({ url }: RunningServer): void => {
  if (!process.stdout.isTTY) return
  process.stderr.write(`Pocket speaks at ${url} (API: ${url}/docs). Ctrl-C stops it.\n`)
}

const untilStopped = async (server: RunningServer, stopping: Stopping, log: Logger): Promise<void> => {
  const isAlive = await Promise.race([
    aborted(stopping.first).then(() => true),
    server.engineLost.then(() => false),
  ])
  if (isAlive) {
    log.info('stopping: requests under way may end, a second signal stops them')
    await Promise.race([server.drain(), aborted(stopping.second)])
  }
  await server.close()
  if (!isAlive) throw new ServerError('engine-died', 'the speech engine has died; start the server again')
  log.info('stopped')
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
