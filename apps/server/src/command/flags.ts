import { InvalidArgumentError, Option } from 'commander'
import { parseOptions } from '../config.ts'

export const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug'] as const

const defaults = parseOptions({})

/** Every flag is an environment variable as well: `--max-text` is POCKET_MAX_TEXT. */
const flag = (name: string, usage: string, description: string): Option =>
  new Option(`--${name} ${usage}`.trimEnd(), description).env(
    `POCKET_${name.toUpperCase().replaceAll('-', '_')}`,
  )

const number = (name: string, description: string, usual: number): Option =>
  flag(name, '<number>', description).default(usual).argParser(parseNumber)

const list = (name: string, usage: string, description: string): Option =>
  flag(name, `<${usage}...>`, description).argParser<string[]>((value, before = []) => [
    ...before,
    ...value.split(',').map((item) => item.trim()),
  ])

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

/** New ones each time: Commander keeps what was parsed in them. */
export const createFlags = (): Option[] => [
  flag('host', '<address>', 'where to listen; 0.0.0.0 lets other machines in').default(defaults.host),
  number('port', '0 takes any free one', defaults.port),
  flag('model', '<folder>', 'a model folder or config.yaml, by path or URL; default: the embedded model'),
  flag('threads', '<number>', 'threads that share the work; default: one a processor, at most 4').argParser(
    parseNumber,
  ),
  flag('backend', '<name>', 'what computes; auto takes a GPU where it is there, right and faster')
    .choices(['auto', 'cpu', 'hybrid', 'gpu'])
    .default('auto'),
  flag('lanes', '<number>', 'requests that a GPU speaks side by side; default: 1, each by itself').argParser(
    parseNumber,
  ),
  flag('quantize', '', 'keep the language model in 8 bits: half the memory'),
  flag('codec-precision', '<name>', 'int16 computes sound in integers: faster on the CPU, no audible change')
    .choices(['stored', 'int16'])
    .default('stored'),
  flag('default-voice', '<voice>', 'who speaks when nobody is named; default: the model’s'),
  flag('voice-alias', '<alias=voice...>', 'other names for voices').argParser(parseAlias),
  list('voice-url', 'prefix', 'voices may be fetched from URLs that begin so'),
  flag('api-key-file', '<file>', 'callers must send the key in this file'),
  list('cors-origin', 'origin', 'pages from there may call the server; * is all'),
  number('concurrency', 'requests that are spoken at once, in turn', defaults.concurrency),
  number('queue', 'requests that may wait; the next gets 429', defaults.queue),
  number('max-text', 'characters of a text', defaults.maxText),
  number('max-upload', 'bytes of an uploaded recording', defaults.maxUpload),
  flag('page', '<folder>', 'a page to serve in place of the built-in one'),
  flag('log-level', '<level>', 'lines are JSON and never hold a text').choices(logLevels).default('info'),
]
