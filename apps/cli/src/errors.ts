import { CommanderError } from 'commander'
import { type Io, write } from './io.ts'

export const exitCodes = {
  ok: 0,
  failure: 1,
  wrongInput: 2,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const

/** What the user gave is wrong; the message says what was found and what to do. */
export class InputError extends Error {
  override readonly name = 'InputError'
}

/** The command has looked, and something is not as it should be; the message says what to do. Exit code 1. */
export class FoundWrong extends Error {
  override readonly name = 'FoundWrong'
}

/** The signals by which a user, a closed terminal or another program stops a command. */
export const stoppingSignals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

type StoppingSignal = (typeof stoppingSignals)[number]

/** As shells report them: 128 and the signal's number. */
const exitCodesOfSignals: Record<StoppingSignal, number> = {
  SIGHUP: exitCodes.hungUp,
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
}

/** The user stopped the command. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitCode: number

  constructor(signal: StoppingSignal) {
    super(`stopped by ${signal}`)
    this.exitCode = exitCodesOfSignals[signal]
  }
}

/** The error classes of the packages. Told by name: importing them would load every package for `--help`. */
const packageErrors = new Set([
  ...[
    'SentencePieceError',
    'SafeTensorsError',
    'KernelError',
    'MimiError',
    'FlowLmError',
    'PocketTtsError',
    'ServerError',
  ],
])

/** Codes with which a package says that not the input is at fault. */
const internalCodes = new Set([
  'disposed',
  'out-of-memory',
  'self-test',
  'capacity',
  'engine-died',
  'worker-failed',
  'gpu-lost',
])

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')

/** The reader of standard output has gone (`pocket … | head`): nothing is wrong, and nobody is there to be told. */
const isClosedPipe = (error: Error): boolean => ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(codeOf(error))

const exitCodeOf = (error: Error): number => {
  if (isClosedPipe(error)) return exitCodes.ok
  if (error instanceof Interrupted) return error.exitCode
  if (error instanceof InputError) return exitCodes.wrongInput
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.wrongInput
  const isInput = packageErrors.has(error.name) && !internalCodes.has(codeOf(error))
  return isInput ? exitCodes.wrongInput : exitCodes.failure
}

/** Tells the user what went wrong, with a stack where they asked for one, and gives the exit code. */
export const reportError = async (
  thrown: unknown,
  io: Pick<Io, 'stderr'>,
  debug: boolean,
): Promise<number> => {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  // Commander has printed its own message.
  const isSilent = error instanceof CommanderError || error instanceof Interrupted || isClosedPipe(error)
  if (debug && !(error instanceof CommanderError)) await write(io.stderr, `${describe(error)}\n`)
  else if (!isSilent) await write(io.stderr, `pocket: ${error.message}\n`)
  return exitCodeOf(error)
}

const describe = (error: Error): string => {
  const stack = error.stack ?? `${error.name}: ${error.message}`
  return error.cause instanceof Error ? `${stack}\ncaused by ${describe(error.cause)}` : stack
}
