import { readFileSync } from 'node:fs'
import process from 'node:process'
import type { LoadOptions } from '@pocket/tts'
import { Command } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { parseOptions, type ServerOptions } from '../config.ts'
import { ServerError } from '../errors.ts'
import { createFlags, type logLevels } from './flags.ts'

type Loading = Pick<
  LoadOptions,
  'backend' | 'precision' | 'codecPrecision' | 'cloning' | 'simd' | 'threads' | 'gpuTuning' | 'lanes'
>

/** What the command line and the environment say. */
export interface CommandLine {
  /** What `PocketTts.load` takes as a string; undefined for the embedded model. */
  readonly model: string | undefined
  /** How it is computed; what is undefined is left to the model and the machine. */
  readonly loading: Loading
  readonly logLevel: (typeof logLevels)[number]
  readonly options: ServerOptions
}

interface Flags extends Omit<ServerOptions, 'apiKey'>, Loading {
  readonly model?: string
  readonly quantize?: boolean
  readonly logLevel: CommandLine['logLevel']
  readonly apiKeyFile?: string
}

const examples = (name: string): string => `
Lists take several values; in a variable, commas between them. The API key itself
comes by POCKET_API_KEY or a file: flags can be seen by everyone on the machine.

Examples:
  ${name}                      the embedded model, for this machine only
  ${name} --model ./english_2026-04 --default-voice alba
  ${name} --voice-alias nova=slt onyx=awb --cors-origin https://example.com
  POCKET_API_KEY=secret ${name} --host 0.0.0.0           for others, with a key

Then:
  curl http://127.0.0.1:8000/v1/audio/speech -o hello.mp3 \\
    -H 'content-type: application/json' \\
    -d '{"model": "tts-1", "voice": "alloy", "input": "Hello from my pocket."}'`

/** Reads flags and POCKET_* variables. Throws CommanderError, or ServerError `invalid-option`. */
export const parseCommandLine = (
  args: readonly string[],
  terminal: { name: string; out: (text: string) => void; err: (text: string) => void },
): CommandLine => {
  const command = createCommand(terminal.name).configureOutput({
    writeOut: terminal.out,
    writeErr: terminal.err,
    outputError: (text, print) => print(text.replace(/^error: /, `${terminal.name}: `)),
  })
  command.parse(args, { from: 'user' })
  const {
    model,
    backend,
    precision,
    quantize,
    codecPrecision,
    cloning,
    simd,
    threads,
    gpuTuning,
    lanes,
    logLevel,
    apiKeyFile,
    ...options
  } = command.opts<Flags>()
  const apiKey = apiKeyFile === undefined ? process.env.POCKET_API_KEY : readKey(apiKeyFile)
  const all: ServerOptions = { ...options, ...(apiKey === undefined ? {} : { apiKey }) }
  parseOptions(all)
  const loading: Loading = {
    backend,
    precision: quantize ? 'int8' : precision,
    codecPrecision,
    cloning,
    simd,
    threads,
    gpuTuning,
    lanes,
  }
  return { model, loading, logLevel, options: all }
}

const createCommand = (name: string): Command => {
  const command = new Command(name)
    .description(
      'Serve Pocket TTS over HTTP: the speech endpoint of OpenAI’s API, streamed from the first frame.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', examples(name))
    .exitOverride()
    .showHelpAfterError('(--help lists what there is)')
  for (const flag of createFlags()) command.addOption(flag)
  return command
}

const readKey = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    const { message } = cause as Error
    throw new ServerError('invalid-option', `apiKeyFile: it cannot be read: ${message}`, { cause })
  }
}
