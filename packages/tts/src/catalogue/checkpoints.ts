import type { ConfigFile } from '../model/config-schema.ts'
import type { Checkpoint, Language } from './checkpoint.ts'
import { defaultsOf } from './languages.ts'

/** Commits of the three repositories that belong together: voices are made with the weights they are listed beside. */
interface Release {
  readonly weights: string
  readonly weightsWithoutVoiceCloning: string
  readonly voices: string
}

/** What `pocket_tts/config/*.yaml` of kyutai-labs/pocket-tts 2.1.0 pins. */
const june2026: Release = {
  weights: '39592ff23c9ef80098bb74895d104c26275fe2c9',
  weightsWithoutVoiceCloning: 'd29db7978e464fb90cb3359ee0c69a273b9142cc',
  voices: 'e041936c75475d350b405bc870bcf7c22da4e9e6',
}

/** The 24 layers that the English model of 2026-04 was distilled from, published with 3.0. */
const august2026: Release = {
  weights: '492522650173a0653b7575cdc25ae09810e5d741',
  weightsWithoutVoiceCloning: 'e81d79e8194ad4c7ce879c87a4258ef20cbf2487',
  voices: 'e81d79e8194ad4c7ce879c87a4258ef20cbf2487',
}

/** `english_2026-09*.yaml` of the reference, and the voices that its release 3.3.0 pins. */
const september2026: Release = {
  weights: '983151f13aaeab1b13c1e5e3c2c383d49a9edf3f',
  weightsWithoutVoiceCloning: 'e7205b6ee50e654a5ea19f0e9df2b0813b05e921',
  voices: '4e1e0a3e611c51c0b4ed8174fc10f32a54644303',
}

interface Row {
  readonly id: string
  readonly aliases?: readonly string[]
  readonly language: Language
  readonly layers: 6 | 24
  readonly release: Release
  /** In the repository without voice cloning; else `tokenizer.model` beside the weights. */
  readonly tokenizerPath?: string
  /** Only what differs from the usual: BOS before the voice, semicolons kept, no padding. */
  readonly flags?: ConfigFile
}

/** A checkpoint is a row. The order is that of lists and of messages. */
const rows: readonly Row[] = [
  { id: 'english_2026-09', aliases: ['english'], language: 'en', layers: 6, release: september2026 },
  { id: 'english_2026-09_24l', aliases: ['english_24l'], language: 'en', layers: 24, release: september2026 },
  {
    id: 'english_2026-04',
    language: 'en',
    layers: 6,
    release: { ...june2026, weights: '19f95fe2df36e79fbd9f10008595cc4c977a0fcc' },
  },
  { id: 'english_2026-04_24l', language: 'en', layers: 24, release: august2026 },
  {
    id: 'english_2026-01',
    language: 'en',
    layers: 6,
    release: june2026,
    tokenizerPath: 'tokenizer.model',
    flags: { pad_with_spaces_for_short_inputs: true, flow_lm: { insert_bos_before_voice: false } },
  },
  {
    id: 'french_24l',
    language: 'fr',
    layers: 24,
    release: june2026,
    flags: { remove_semicolons: true, model_recommended_frames_after_eos: 8 },
  },
  { id: 'german', language: 'de', layers: 6, release: june2026, flags: { remove_semicolons: true } },
  { id: 'german_24l', language: 'de', layers: 24, release: june2026, flags: { remove_semicolons: true } },
  { id: 'italian', language: 'it', layers: 6, release: june2026 },
  { id: 'italian_24l', language: 'it', layers: 24, release: june2026 },
  { id: 'portuguese', language: 'pt', layers: 6, release: june2026 },
  { id: 'portuguese_24l', language: 'pt', layers: 24, release: june2026 },
  { id: 'spanish', language: 'es', layers: 6, release: june2026 },
  { id: 'spanish_24l', language: 'es', layers: 24, release: june2026 },
]

const gatedRepository = 'kyutai/pocket-tts'
const openRepository = 'kyutai/pocket-tts-without-voice-cloning'

/** Every repository that the catalogue leads to: what to look through in a cache that other tools share. */
export const publishedRepositories: readonly string[] = [gatedRepository, openRepository, 'kyutai/tts-voices']

/** Where access to the weights with voice cloning is granted. */
export const accessPage = `https://huggingface.co/${gatedRepository}`

/**
 * What the reference's config class settled on for every published checkpoint, English in July 2026 and the others
 * after it: fewer wrong words than at the 0.7 of 2.1.0.
 */
const temperature = 0.3

const toCheckpoint = ({
  id,
  aliases = [],
  language,
  layers,
  release,
  tokenizerPath,
  flags,
}: Row): Checkpoint => {
  const folder = `languages/${id}`
  const open = (path: string, revision: string): string => `hf://${openRepository}/${path}@${revision}`
  const { flow_lm, ...otherFlags } = flags ?? {}
  return {
    id,
    aliases,
    language,
    layers,
    weights: `hf://${gatedRepository}/${folder}/model.safetensors@${release.weights}`,
    weightsWithoutVoiceCloning: open(`${folder}/model.safetensors`, release.weightsWithoutVoiceCloning),
    tokenizer: open(tokenizerPath ?? `${folder}/tokenizer.model`, release.weightsWithoutVoiceCloning),
    voiceTemplate: open(`${folder}/embeddings/{name}.safetensors`, release.voices),
    config: {
      ...otherFlags,
      default_temperature: temperature,
      // The number of layers is checked against the tensors: weights of another depth are refused.
      flow_lm: { insert_bos_before_voice: true, ...flow_lm, transformer: { num_layers: layers } },
    },
    defaultTemperature: temperature,
    ...defaultsOf[language],
  }
}

/** Every checkpoint that has an id, newest English first. */
export const checkpoints: readonly Checkpoint[] = rows.map(toCheckpoint)
