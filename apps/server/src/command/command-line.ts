import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { parseOptions, type ServerOptions } from '../config.ts'
import { ServerError } from '../errors.ts'

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug'] as const

/** What the command line and the environment say. */
export interface CommandLine {
  /** A model folder, config file or URL; undefined for the embedded model. */
  readonly model: string | undefined
  readonly logLevel: (typeof logLevels)[number]
  readonly options: ServerOptions
}

interface Flags extends Omit<ServerOptions, 'apiKey'> {
  readonly model?: string
  readonly logLevel: CommandLine['logLevel']
  readonly apiKeyFile?: string
}

const examples = `
Lists take several values, or commas in the environment. The API key itself comes by POCKET_API_KEY or a file, never by
a flag: flags can be seen by everyone on the machine.

Examples:
  pocket-server                                                       the embedded model, for this machine only
  pocket-server --model ./english_2026-04 --default-voice alba
  POCKET_API_KEY=secret pocket-server --host 0.0.0.0 --port 80        for others, with a key
  pocket-server --voice-alias nova=slt onyx=awb --cors-origin https://example.com

Then:
  curl http://127.0.0.1:8000/v1/audio/speech -H 'content-type: application/json' -o hello.mp3 \\
    -d '{"model": "tts-1", "input": "Hello from my pocket.", "voice": "alloy"}'`

/** Reads flags and POCKET_* variables. Throws CommanderError, or ServerError `invalid-option`. */
export const parseCommandLine = (
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  write: { out: (text: string) => void; err: (text: string) => void },
): CommandLine => {
  const command = createCommand(env).configureOutput({ writeOut: write.out, writeErr: write.err })
  command.parse(args, { from: 'user' })
  const { model, logLevel, apiKeyFile, ...options } = command.opts<Flags>()
  const apiKey = apiKeyFile === undefined ? env.POCKET_API_KEY : readKey(apiKeyFile)
  const all: ServerOptions = { ...options, ...(apiKey === undefined ? {} : { apiKey }) }
  parseOptions(all)
  return { model, logLevel, options: all }
}

const createCommand = (env: Readonly<Record<string, string | undefined>>): Command => {
  const defaults = parseOptions({})
  const command = new Command('pocket-server')
    .description(
      'Serve Pocket TTS over HTTP: the speech endpoint of OpenAI’s API, streamed from the first frame.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', examples)
    .exitOverride()
    .showHelpAfterError('(--help lists what there is)')
  const flag = (name: string, usage: string, description: string): Option => {
    const variable = `POCKET_${name.toUpperCase().replaceAll('-', '_')}`
    const option = new Option(`--${name} ${usage}`, description)
    // An empty variable is as good as none: that is how compose files leave one out.
    return env[variable] ? option.env(variable) : option
  }
  const number = (name: keyof typeof defaults & string, flagName: string, description: string): Option =>
    flag(flagName, '<number>', description).default(defaults[name]).argParser(parseNumber)
  const list = (name: string, usage: string, description: string): Option =>
    flag(name, `<${usage}...>`, description).argParser<string[]>((value, before = []) => [
      ...before,
      ...value.split(',').map((item) => item.trim()),
    ])
  const all = [
    flag('host', '<address>', 'where to listen; 0.0.0.0 lets other machines in').default(defaults.host),
    number('port', 'port', '0 takes any free one'),
    flag('model', '<folder>', 'a model folder or config.yaml, by path or URL; default: the embedded model'),
    flag('default-voice', '<voice>', 'who speaks when nobody is named; default: the model’s'),
    flag('voice-alias', '<alias=voice...>', 'other names for voices').argParser(parseAlias),
    list('voice-url', 'prefix', 'voices may be fetched from URLs that begin so'),
    flag('api-key-file', '<file>', 'callers must send the key in this file'),
    list('cors-origin', 'origin', 'pages from there may call the server; * is all'),
    number('concurrency', 'concurrency', 'requests that are spoken at once, in turn'),
    number('queue', 'queue', 'requests that may wait; the next gets 429'),
    number('maxText', 'max-text', 'characters of a text'),
    number('maxUpload', 'max-upload', 'bytes of an uploaded recording'),
    flag('page', '<folder>', 'a page to serve in place of the built-in one'),
    flag('log-level', '<level>', 'lines are JSON and never hold a text').choices(logLevels).default('info'),
  ]
  for (const option of all) command.addOption(option)
  return command
}

const parseNumber = (text: string): number => {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}

const parseAlias = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const aliases = { ...before }
  for (const item of text.split(',')) {
    const [alias, voice, ...rest] = item.split('=').map((part) => part.trim())
    if (!alias || !voice || rest.length > 0) throw new InvalidArgumentError('It must look like nova=slt.')
    aliases[alias] = voice
  }
  return aliases
}

const readKey = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    const { message } = cause as Error
    throw new ServerError('invalid-option', `apiKeyFile: it cannot be read: ${message}`, { cause })
  }
}
