import { messageOf, PocketTtsError } from '../errors.ts'
import { type ConfigFile, checkConfigFile } from './config-schema.ts'

/** How a model wants to be used: what its config file says, defaults filled in. */
export interface PocketConfig {
  /** The model's name: of its folder, of its config file, or given with the parts. */
  readonly modelId: string
  /** SHA-256 that tells this language model from every other: see `fingerprint`. */
  readonly sha256: string
  /** `pad_with_spaces_for_short_inputs`; false unless stated. */
  readonly padWithSpacesForShortInputs: boolean
  /** `remove_semicolons`; false unless stated. */
  readonly removeSemicolons: boolean
  /** `append_terminal_punctuation`; true unless stated. */
  readonly appendTerminalPunctuation: boolean
  /** `insert_bos_before_voice`; where it is not stated, whether the checkpoint has the tensor. */
  readonly insertBosBeforeVoice: boolean
  /** `model_recommended_frames_after_eos`; null where the text decides. */
  readonly modelRecommendedFramesAfterEos: number | null
  /** `default_temperature`; 0.3 unless stated. */
  readonly defaultTemperature: number
}

/** The temperature of English checkpoints since July 2026, and what the embedded model was measured with. */
const usualTemperature = 0.3

/** Config files have some 60 lines; this is what nobody writes by hand, and few enough bytes to parse whatever they say. */
export const largestConfigFile = 1 << 16

/**
 * Reads a config file of the reference. The YAML parser is loaded here, so that users without such a file do not
 * carry it. Throws PocketTtsError `invalid-model`.
 */
export const parseConfigFile = async (bytes: Uint8Array, where: string): Promise<ConfigFile> => {
  const { parse } = await import('yaml')
  let value: unknown
  try {
    // A library does not write to the process's standard error: what matters is thrown.
    value = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { logLevel: 'error' })
  } catch (cause) {
    const reason = messageOf(cause)
    throw new PocketTtsError('invalid-model', `${where} is no YAML: ${reason}`, { cause })
  }
  return checkConfigFile(value, where)
}

export const toPocketConfig = (
  file: ConfigFile,
  known: Pick<PocketConfig, 'modelId' | 'sha256' | 'insertBosBeforeVoice'>,
): PocketConfig => ({
  ...known,
  padWithSpacesForShortInputs: file.pad_with_spaces_for_short_inputs ?? false,
  removeSemicolons: file.remove_semicolons ?? false,
  appendTerminalPunctuation: file.append_terminal_punctuation ?? true,
  modelRecommendedFramesAfterEos: file.model_recommended_frames_after_eos ?? null,
  defaultTemperature: file.default_temperature ?? usualTemperature,
})
