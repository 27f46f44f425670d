import process from 'node:process'
import { mini } from '@pocket/mini'
import { loadInWorker } from '@pocket/tts'
import { type Logger, pino } from 'pino'
import { ServerError } from '../errors.ts'
import { type RunningServer, startServer } from '../start-server.ts'
import { type CommandLine, parseCommandLine } from './command-line.ts'
import { Stopping } from './stopping.ts'

/**
 * The command line: serves until SIGTERM or SIGINT. The first signal lets requests end, a second one does not wait for
 * them. `name` is what help calls the command.
 *
 * @throws CommanderError once help is printed, or what is wrong with a flag is; ServerError; PocketTtsError for a model
 *   that cannot be loaded
 */
export const serve = async (args: readonly string[], name = 'pocket-server'): Promise<void> => {
  const { stdout, stderr } = process
  const { model, logLevel, options } = parseCommandLine(args, {
    name,
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
  })
  const stopping = new Stopping()
  try {
    await serveModel(model, options, pino({ level: logLevel }), stopping)
  } catch (error) {
    // Told to stop while it was still loading.
    if (!stopping.first.aborted) throw error
  } finally {
    stopping.forget()
  }
}

const serveModel = async (
  model: CommandLine['model'],
  options: CommandLine['options'],
  log: Logger,
  stopping: Stopping,
): Promise<void> => {
  const engine = await loadInWorker(model ?? mini, { signal: stopping.first })
  try {
    const server = await startServer(engine, options, { log })
    log.info({ url: server.url, model: engine.config.modelId }, 'listening')
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
