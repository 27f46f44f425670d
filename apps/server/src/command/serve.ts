import process from 'node:process'
import { parseCommandLine } from './command-line.ts'
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
  const command = parseCommandLine(args, {
    name,
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
  })
  const stopping = new Stopping()
  try {
    // Loaded only now: help and mistakes in the flags are answered at once.
    const { serveModel } = await import('./serve-model.ts')
    await serveModel(command, stopping)
  } catch (error) {
    // Told to stop while it was still loading.
    if (!stopping.first.aborted) throw error
  } finally {
    stopping.forget()
  }
}
