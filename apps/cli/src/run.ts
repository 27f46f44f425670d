import { exitCodes, reportError } from './errors.ts'
import type { Io } from './io.ts'
import { createProgram } from './program.ts'

/** Runs the command line `argv` (without node and script) and gives the exit code. Never throws. */
export const run = async (argv: readonly string[], io: Io): Promise<number> => {
  const program = createProgram(io)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    return reportError(error, io, argv.includes('--debug') || Boolean(io.env.POCKET_DEBUG))
  }
}
