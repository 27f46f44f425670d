import type { LoadOptions } from '@pocket/tts'
import { type Choice, loadChoices } from '@pocket/tts/options'

/** How speech is computed: what the selectors show, and the address remembers. */
export interface EngineSettings {
  readonly backend: Choice<'backend'>
  readonly precision: Choice<'precision'>
  readonly codecPrecision: Choice<'codecPrecision'>
  readonly simd: Choice<'simd'>
  /** Undefined: as many as the library takes by itself. */
  readonly threads: LoadOptions['threads']
}

export interface Settings {
  readonly engine: EngineSettings
  /** `?prefill=0.5`: seconds of speech that must be ready before it is heard. Undefined: the usual 0.16. */
  readonly prefill: number | undefined
  /** What of the address was left out, and why: sentences to read. */
  readonly ignored: readonly string[]
}

export const usualEngine: EngineSettings = {
  backend: 'auto',
  precision: 'stored',
  codecPrecision: 'stored',
  simd: 'auto',
  threads: undefined,
}

/** What the address calls them: as the command line does. */
const parameters = {
  backend: 'backend',
  precision: 'precision',
  codecPrecision: 'codec-precision',
  simd: 'simd',
} as const

type Chosen = keyof typeof parameters

const namesOf = Object.keys(parameters) as Chosen[]

/** Why this page has one thread, where it has. */
export const whyOneThread =
  'This page is not isolated from other origins, so its threads may share no memory, and one does the work. ' +
  'Where you serve it yourself, send the headers Cross-Origin-Opener-Policy: same-origin and ' +
  'Cross-Origin-Embedder-Policy: require-corp.'

/** Threads that may be chosen here, beside the usual number. */
export const mostThreads = (): number => (crossOriginIsolated ? navigator.hardwareConcurrency : 1)

/** Reads the part of an address after `?`. What makes no sense is told, and left at the usual. */
export const readSettings = (query: string): Settings => {
  const given = new URLSearchParams(query)
  const ignored: string[] = []
  const engine = Object.fromEntries(
    namesOf.map((name) => [name, readChoice(name, given.get(parameters[name]), ignored)]),
  ) as Pick<EngineSettings, Chosen>
  const prefill = Number.parseFloat(given.get('prefill') ?? '')
  return {
    engine: { ...engine, threads: readThreads(given.get('threads'), ignored) },
    prefill: prefill >= 0 ? prefill : undefined,
    ignored,
  }
}

const readChoice = (name: Chosen, value: string | null, ignored: string[]): string => {
  const values = Object.keys(loadChoices[name].values)
  if (value === null) return usualEngine[name]
  if (values.includes(value)) return value
  ignored.push(`The address says ${parameters[name]}=${value}, which is none of ${values.join(', ')}.`)
  return usualEngine[name]
}

const readThreads = (value: string | null, ignored: string[]): number | undefined => {
  if (value === null || value === 'auto') return undefined
  const threads = Number(value)
  const most = mostThreads()
  if (Number.isInteger(threads) && threads >= 1 && threads <= most) return threads
  const bound = crossOriginIsolated ? `which is neither auto nor 1 to ${most}.` : `but: ${whyOneThread}`
  ignored.push(`The address says threads=${value}, ${bound}`)
  return undefined
}

/** The same address with these settings; what is usual is not named. */
export const withEngine = (query: string, engine: EngineSettings): string => {
  const result = new URLSearchParams(query)
  const write = (parameter: string, value: string | undefined) =>
    value === undefined ? result.delete(parameter) : result.set(parameter, value)
  for (const name of namesOf) {
    write(parameters[name], engine[name] === usualEngine[name] ? undefined : engine[name])
  }
  write('threads', engine.threads?.toString())
  return result.size === 0 ? '' : `?${result}`
}
