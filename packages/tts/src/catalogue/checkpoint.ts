import type { ConfigFile } from '../model/config-schema.ts'

/** ISO 639-1 codes of the languages that have a checkpoint. */
export type Language = 'de' | 'en' | 'es' | 'fr' | 'it' | 'pt'

/** One model that can be loaded by its id. Places are `hf://owner/repo/path@revision`. */
export interface Checkpoint {
  /** The reference's name of the config, and of the folder in the repository. */
  readonly id: string
  /** Other names; they move on to a newer checkpoint when there is one. */
  readonly aliases: readonly string[]
  readonly language: Language
  /** Of the language model: 6 are fast, 24 speak better. */
  readonly layers: 6 | 24
  /** The whole weights. Their repository asks for consent; see `accessPage`. */
  readonly weights: string
  /** The same weights with a blank voice encoder, for everybody. */
  readonly weightsWithoutVoiceCloning: string
  readonly tokenizer: string
  /** Where the predefined voices are; `{name}` stands for one of `predefinedVoices`. */
  readonly voiceTemplate: string
  /** What the reference's config file says that the tensors do not. */
  readonly config: ConfigFile
  readonly defaultTemperature: number
  /** One of `predefinedVoices`: a speaker of the language. */
  readonly defaultVoice: string
  /** Something to say when nobody says what. */
  readonly defaultSentence: string
}
