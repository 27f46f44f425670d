import { describeChoices, loadChoices, loadCounts, type OptionChoices } from '@pocket/tts/options'
import { InvalidArgumentError, Option } from 'commander'
import { parseOptions } from '../config.ts'

export const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug'] as const

const defaults = parseOptions({})

/** Every flag is an environment variable as well: `--max-text` is POCKET_MAX_TEXT. */
const flag = (name: string, usage: string, description: string): Option =>
  new Option(`--${name} ${usage}`.trimEnd(), description).env(
    `POCKET_${name.toUpperCase().replaceAll('-', '_')}`,
  )

/** What makes speech faster or smaller has a place of its own in the help. */
const speed = (option: Option): Option => option.helpGroup('Speed and memory:')

const count = (name: string, description: string): Option =>
  flag(name, '<number>', description).argParser(parseNumber)

const number = (name: string, description: string, usual: number): Option =>
  count(name, description).default(usual)

const choice = (name: string, choices: OptionChoices): Option => {
  const values = Object.keys(choices.values)
  return flag(name, '<name>', describeChoices(choices)).argParser((text) => {
    if (values.includes(text)) return text
    throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`)
  })
}

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
  flag(
    'model',
    '<model>',
    'a published model (english, german, …), a folder or config.yaml by path or URL, or hf://owner/repo/folder@revision; default: the embedded model',
  ),
  speed(choice('backend', loadChoices.backend)),
  speed(choice('precision', loadChoices.precision)),
  speed(flag('quantize', '', 'the same as --precision int8').conflicts('precision')),
  speed(choice('codec-precision', loadChoices.codecPrecision)),
  speed(choice('cloning', loadChoices.cloning)),
  speed(choice('simd', loadChoices.simd)),
  speed(count('threads', loadCounts.threads.about)),
  speed(choice('gpu-tuning', loadChoices.gpuTuning)),
  speed(count('lanes', loadCounts.lanes.about)),
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
