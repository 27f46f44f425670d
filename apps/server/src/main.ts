import { enableCompileCache } from 'node:module'
import process from 'node:process'
import { CommanderError } from 'commander'
import { serve } from './command/serve.ts'
import { ServerError } from './errors.ts'

// Compiled code is kept between runs, where the platform allows: the second start is quicker.
enableCompileCache()

/** 1: something failed while it ran. 2: what it was told is wrong. */
const exitCodeOf = (error: Error): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ServerError) return error.code === 'engine-died' ? 1 : 2
  return error.name === 'PocketTtsError' ? 2 : 1
}

// Not awaited: the launcher takes this module by `require`, which takes none that waits.
serve(process.argv.slice(2)).catch((error: Error) => {
  // Commander has said it already.
  if (!(error instanceof CommanderError)) process.stderr.write(`pocket-server: ${error.message}\n`)
  // An exit code, not process.exit(): what is still on its way into a pipe would be lost.
  process.exitCode = exitCodeOf(error)
})
