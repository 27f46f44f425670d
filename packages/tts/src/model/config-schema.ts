import { PocketTtsError } from '../errors.ts'
import { nearest } from './nearest.ts'

/** What one value of a config file may be. */
interface Rule<T> {
  readonly expected: string
  readonly accepts: (value: unknown) => value is T
}

interface Section {
  readonly [key: string]: Rule<unknown> | Section
}

/** Every key is optional in what a file says; `null` says nothing, as in the reference. */
type Parsed<S extends Section> = {
  readonly [K in keyof S]?: S[K] extends Rule<infer T> ? T : S[K] extends Section ? Parsed<S[K]> : never
}

const text: Rule<string> = {
  expected: 'text',
  accepts: (value): value is string => typeof value === 'string' && value !== '',
}
const flag: Rule<boolean> = {
  expected: 'true or false',
  accepts: (value): value is boolean => typeof value === 'boolean',
}
const size: Rule<number> = {
  expected: 'a whole number above 0',
  accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
}
const count: Rule<number> = {
  expected: 'a whole number of at least 0',
  accepts: (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0,
}
const measure: Rule<number> = {
  expected: 'a number of at least 0',
  accepts: (value): value is number => Number.isFinite(value) && Number(value) >= 0,
}
const sizes: Rule<readonly number[]> = {
  expected: 'a list of whole numbers above 0',
  accepts: (value): value is readonly number[] => Array.isArray(value) && value.every(size.accepts),
}

/** Every key of the reference's config files: kyutai-labs/pocket-tts 2.1.0, and the two that came with 3.0 and 3.0.1. */
const schema = {
  weights_path: text,
  weights_path_without_voice_cloning: text,
  flow_lm: {
    weights_path: text,
    insert_bos_before_voice: flag,
    dtype: text,
    flow: { depth: size, dim: size },
    transformer: {
      d_model: size,
      hidden_scale: size,
      max_period: measure,
      num_heads: size,
      num_layers: size,
    },
    lookup_table: { dim: size, n_bins: size, tokenizer: text, tokenizer_path: text },
  },
  mimi: {
    weights_path: text,
    dtype: text,
    sample_rate: size,
    inner_dim: size,
    outer_dim: size,
    channels: size,
    frame_rate: measure,
    seanet: {
      dimension: size,
      channels: size,
      n_filters: size,
      n_residual_layers: size,
      ratios: sizes,
      kernel_size: size,
      residual_kernel_size: size,
      last_kernel_size: size,
      dilation_base: size,
      pad_mode: text,
      compress: size,
    },
    transformer: {
      d_model: size,
      num_heads: size,
      num_layers: size,
      layer_scale: measure,
      context: size,
      max_period: measure,
      dim_feedforward: size,
      input_dimension: size,
      output_dimensions: sizes,
    },
    quantizer: { dimension: size, output_dimension: size },
  },
  pad_with_spaces_for_short_inputs: flag,
  remove_semicolons: flag,
  model_recommended_frames_after_eos: count,
  default_temperature: measure,
  append_terminal_punctuation: flag,
} as const satisfies Section

/** A config file of the reference, each value of its kind. */
export type ConfigFile = Parsed<typeof schema>

/**
 * Checks parsed YAML (or an object with the same keys) against the reference's schema.
 * Throws PocketTtsError `invalid-model`, naming the key, the value and what was expected.
 */
export const checkConfigFile = (value: unknown, where: string): ConfigFile =>
  checkSection(value, schema, [], where) as ConfigFile

const checkSection = (value: unknown, section: Section, path: string[], where: string): object => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(where, `${path.join('.') || 'the file'} is ${quote(value)}, expected keys with values`)
  }
  const checked: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(value)) {
    const rule = Object.hasOwn(section, key) ? section[key] : undefined
    if (!rule) throw unknownKey(where, [...path, key])
    if (entry === null || entry === undefined) continue
    checked[key] = checkEntry(entry, rule, [...path, key], where)
  }
  return checked
}

const checkEntry = (
  entry: unknown,
  rule: Rule<unknown> | Section,
  path: string[],
  where: string,
): unknown => {
  if (!isRule(rule)) return checkSection(entry, rule, path, where)
  if (rule.accepts(entry)) return entry
  throw invalid(where, `${path.join('.')} is ${quote(entry)}, expected ${rule.expected}`)
}

const isRule = (rule: Rule<unknown> | Section): rule is Rule<unknown> => typeof rule.accepts === 'function'

const unknownKey = (where: string, path: string[]): PocketTtsError => {
  const parent = path.slice(0, -1).join('.')
  const known = [...paths(schema)].sort((a, b) => Number(b.parent === parent) - Number(a.parent === parent))
  const closest = nearest(path.at(-1) ?? '', known, ({ key }) => key)
  const suggestion = closest && [closest.parent, closest.key].filter(Boolean).join('.')
  return invalid(where, `there is no key ${quote(path.join('.'))}; the nearest known key is ${suggestion}`)
}

function* paths(section: Section, parent = ''): Generator<{ parent: string; key: string }> {
  for (const [key, rule] of Object.entries(section)) {
    yield { parent, key }
    if (!isRule(rule)) yield* paths(rule, parent ? `${parent}.${key}` : key)
  }
}

const invalid = (where: string, problem: string): PocketTtsError =>
  new PocketTtsError('invalid-model', `${where}: ${problem}`)

const longestQuote = 60

const quote = (value: unknown): string => {
  const shown = asJson(value) ?? (typeof value === 'object' ? 'a nested value' : String(value))
  return shown.length > longestQuote ? `${shown.slice(0, longestQuote)}…` : shown
}

/** Undefined for what JSON cannot say: BigInts, and circles, which anchors of YAML can make. */
const asJson = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
