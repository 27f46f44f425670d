import process from 'node:process'
import { mini } from '@pocket/mini'
import { loadInWorker } from '@pocket/tts'
import { CommanderError } from 'commander'
import { type Logger, pino } from 'pino'
import { type RunningServer, startServer } from '../start-server.ts'
import { type CommandLine, parseCommandLine } from './command-line.ts'
import { Stopping } from './stopping.ts'

/** 1: something failed while it ran. 2: what it was told is wrong. */
const exitCodes = { ok: 0, failure: 1, wrongInput: 2 } as const

/**
 * The command `pocket-server`: serves until it is told to stop by SIGTERM or SIGINT, and gives the exit code. The first
 * signal lets requests end, a second one does not wait for them. Never throws.
 */
export const run = async (args: readonly string[]): Promise<number> => {
  const { stdout, stderr, env } = process
  try {
    const command = parseCommandLine(args, env, {
      out: (text) => stdout.write(text),
      err: (text) => stderr.write(text),
    })
    return await serve(command)
  } catch (error) {
    // Commander has said it already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.wrongInput
    const { name, message } = error as Error
    stderr.write(`pocket-server: ${message}\n`)
    return name === 'ServerError' || name === 'PocketTtsError' ? exitCodes.wrongInput : exitCodes.failure
  }
}

const serve = async ({ model, logLevel, options }: CommandLine): Promise<number> => {
  const log: Logger = pino({ level: logLevel })
  const stopping = new Stopping()
  try {
    const engine = await loadInWorker(model ?? mini, { signal: stopping.first })
    try {
      const server = await startServer(engine, options, { log })
      log.info({ url: server.url, model: engine.config.modelId }, 'listening')
      greet(server)
      return await untilStopped(server, stopping, log)
    } finally {
      engine.dispose()
    }
  } catch (error) {
    if (stopping.first.aborted) return exitCodes.ok
    throw error
  } finally {
    stopping.forget()
  }
}

/** For people who start it by hand; a service manager reads the log. */
const greet = ({ url }: RunningServer): void => {
  if (process.stdout.isTTY)
    process.stderr.write(`Pocket speaks at ${url} (API: ${url}/docs). Ctrl-C stops it.\n`)
}

const untilStopped = async (server: RunningServer, stopping: Stopping, log: Logger): Promise<number> => {
  const engineIsLost = await Promise.race([
    once(stopping.first).then(() => false),
    server.engineLost.then(() => true),
  ])
  if (engineIsLost) {
    log.fatal('the speech engine has died')
    await server.close()
    return exitCodes.failure
  }
  log.info('stopping: requests under way may end, a second signal stops them')
  await Promise.race([server.drain(), once(stopping.second)])
  await server.close()
  log.info('stopped')
  return exitCodes.ok
}

const once = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
