import type { Checkpoint } from '../catalogue/checkpoint.ts'
import { predefinedVoices, voiceLocation } from '../catalogue/voices.ts'
import { locate } from './part.ts'
import type { ResolvedModel } from './resolved-model.ts'

/** Where everything of a published checkpoint is. Nothing is fetched. */
export const resolveCheckpoint = (checkpoint: Checkpoint): ResolvedModel => {
  const { id, weights, weightsWithoutVoiceCloning, tokenizer, config, defaultVoice } = checkpoint
  const voices = Object.keys(predefinedVoices).map((name) => [name, voiceLocation(checkpoint, name)] as const)
  return {
    name: id,
    weights: [weights, weightsWithoutVoiceCloning].map((place) => locate(place)),
    tokenizer,
    config,
    configName: `the checkpoint ${id}`,
    voices: new Map(voices),
    voiceFolders: [],
    defaultVoice,
  }
}
