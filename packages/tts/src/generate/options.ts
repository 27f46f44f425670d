import type { PocketConfig } from '../model/config.ts'
import type { NoiseSource } from '../noise/noise-source.ts'
import { chunkNoise, referenceNoise } from '../noise/normal-noise.ts'
import { scaledNoise } from '../noise/scaled-noise.ts'
import { DEFAULT_SEED } from '../noise/seed.ts'
import { checkCallOptions, invalidOption } from '../option-checks.ts'
import { DEFAULT_MAX_TOKENS } from '../text/split-sentences.ts'
import { requireTextProfile, type TextFlags, type TextProfile } from '../text/text-flags.ts'
import type { Voice } from '../voices/voice.ts'
import type { GenerateProgress, Warning } from './utterance.ts'

export interface GenerateOptions {
  /** A voice, or what `loadVoice` takes. Default: the model's `defaultVoice`. */
  readonly voice?: Voice | string | undefined
  /** 0 to 2⁶⁴ − 1. Equal seeds give equal speech; so do calls without one. */
  readonly seed?: number | bigint | undefined
  /** At least 0. Default: the model's, usually 0.3. More is livelier and less sure. */
  readonly temperature?: number | undefined
  /** Evaluations of the flow head per frame, 1 to 1000. Default 1. */
  readonly lsdSteps?: number | undefined
  /** Noise beyond ±this (after scaling by √temperature) is drawn again. Default: none is. */
  readonly noiseClamp?: number | undefined
  /** Speech ends when the raw end-of-speech logit is above this. Default −4. */
  readonly eosThreshold?: number | undefined
  /** Frames of 80 ms after the end of speech, from 0. Default: the model's, else 3 or 5 by the text's length. */
  readonly framesAfterEos?: number | undefined
  /** Longer texts are spoken in chunks of at most this many tokens, where punctuation allows. Default 50. */
  readonly maxTokensPerChunk?: number | undefined
  /** How the text is prepared. Default and only one yet: `'reference'`. */
  readonly textProfile?: TextProfile | undefined
  /**
   * `'utterance'` (default): one stream of noise through all chunks of a text, as in the reference, so that a chunk's
   * noise begins where the last one's ended. `'chunk'`: each chunk has a stream of its own, made of the seed and its
   * number. Then the chunks of a long text are made side by side where `lanes` are loaded. Speech is other speech, as
   * with another seed, and the same on every backend.
   */
  readonly noiseStream?: 'utterance' | 'chunk' | undefined
  /** Unit normal rows in place of the seed's. */
  readonly noise?: NoiseSource | undefined
  /** Stops within a frame; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called after every frame. */
  readonly onProgress?: ((progress: GenerateProgress) => void) | undefined
  /** Called when something goes less well than it should; `speak` also lists these. */
  readonly onWarning?: ((warning: Warning) => void) | undefined
}

/** Options checked, defaults filled in. */
export interface Settings {
  /** Scaled by √temperature and clamped: what the flow head takes. */
  readonly noise: NoiseSource
  /** Where no chunk's noise depends on how long the others are: that of a chunk, from 0. In place of `noise`. */
  readonly noiseOfChunk?: ((index: number) => NoiseSource) | undefined
  readonly lsdSteps: number
  readonly eosThreshold: number
  /** Undefined where each chunk's text decides. */
  readonly framesAfterEos: number | undefined
  readonly maxTokens: number
  readonly textFlags: TextFlags
  readonly onProgress: GenerateOptions['onProgress']
  readonly onWarning: GenerateOptions['onWarning']
}

/** The reference's `eos_threshold`. */
const usualEosThreshold = -4

/** More evaluations than this change nothing that can be heard; each set of them takes memory. */
const mostLsdSteps = 1000

/** Throws PocketTtsError `invalid-option`, naming the option, what was found and what is allowed. */
export const checkGenerateOptions = (options: GenerateOptions, config: PocketConfig): Settings => {
  checkCallOptions(options)
  const { textProfile, voice, noise, onProgress, onWarning } = options
  requireTextProfile(textProfile)
  const isVoice =
    voice === undefined || typeof voice === 'string' || (typeof voice === 'object' && voice !== null)
  if (!isVoice) throw invalidOption('voice', voice, 'a name, a path, a URL or a Voice')
  if (noise !== undefined && typeof noise?.next !== 'function')
    throw invalidOption('noise', noise, 'a NoiseSource')
  const {
    temperature = config.defaultTemperature,
    noiseClamp,
    lsdSteps = 1,
    eosThreshold = usualEosThreshold,
    framesAfterEos = config.modelRecommendedFramesAfterEos ?? undefined,
    maxTokensPerChunk = DEFAULT_MAX_TOKENS,
  } = options
  checkInteger('lsdSteps', lsdSteps, 1, mostLsdSteps)
  if (framesAfterEos !== undefined) checkInteger('framesAfterEos', framesAfterEos, 0)
  checkInteger('maxTokensPerChunk', maxTokensPerChunk, 0)
  if (typeof eosThreshold !== 'number' || Number.isNaN(eosThreshold)) {
    throw invalidOption('eosThreshold', eosThreshold, 'a number')
  }
  const scaled = (rows: NoiseSource): NoiseSource => scaledNoise(rows, temperature, noiseClamp)
  return {
    noise: scaled(noise ?? referenceNoise(options.seed)),
    noiseOfChunk: hasNoiseOfChunks(options, temperature)
      ? (index) => scaled(chunkNoise(options.seed ?? DEFAULT_SEED, index))
      : undefined,
    lsdSteps,
    eosThreshold,
    framesAfterEos,
    maxTokens: maxTokensPerChunk,
    textFlags: { ...config, textProfile },
    onProgress,
    onWarning,
  }
}

/** At temperature 0 all noise is alike. Throws PocketTtsError `invalid-option`. */
const hasNoiseOfChunks = ({ noiseStream, noise }: GenerateOptions, temperature: number): boolean => {
  if (noiseStream !== undefined && noiseStream !== 'utterance' && noiseStream !== 'chunk') {
    throw invalidOption('noiseStream', noiseStream, 'one of utterance, chunk')
  }
  if (noise === undefined) return noiseStream === 'chunk' || temperature === 0
  if (noiseStream !== 'chunk') return false
  throw invalidOption('noiseStream', noiseStream, 'utterance where noise is given, which is one stream')
}

const checkInteger = (name: string, value: unknown, least: number, most = Number.POSITIVE_INFINITY): void => {
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return
  const range = most === Number.POSITIVE_INFINITY ? `of at least ${least}` : `from ${least} to ${most}`
  throw invalidOption(name, value, `a whole number ${range}`)
}
