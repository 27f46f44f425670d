import type { Checkpoint } from '../catalogue/checkpoint.ts'
import { accessPage } from '../catalogue/checkpoints.ts'
import { predefinedVoices, voiceLocation } from '../catalogue/voices.ts'
import type { Hub } from '../hub/hub.ts'
import { locate, type PartOptions } from './part.ts'
import type { ResolvedModel } from './resolved-model.ts'
import { withoutVoiceCloning } from './voice-cloning.ts'

/** Where everything of a published checkpoint is. Nothing is fetched. */
export const resolveCheckpoint = async (
  checkpoint: Checkpoint,
  { hub }: Pick<PartOptions, 'hub'>,
): Promise<ResolvedModel> => {
  const { id, tokenizer, config, defaultVoice } = checkpoint
  const voices = Object.keys(predefinedVoices).map((name) => [name, voiceLocation(checkpoint, name)] as const)
  return {
    ...(await findWeights(checkpoint, hub())),
    name: id,
    tokenizer,
    config,
    configName: `the checkpoint ${id}`,
    voices: new Map(voices),
    voiceFolders: [],
    defaultVoice,
  }
}

/**
 * The gated repository refuses whoever has no token. It is asked once all the same, since a mirror may be open; who got
 * the other weights then is not kept waiting for the same refusal each time.
 */
const findWeights = async (
  { weights, weightsWithoutVoiceCloning }: Checkpoint,
  hub: Hub,
): Promise<Pick<ResolvedModel, 'weights' | 'warnings'>> => {
  const hasOnlyOpen = !(await hub.find(weights)) && (await hub.find(weightsWithoutVoiceCloning))
  if (!hasOnlyOpen || (await hub.report([])).tokenSource !== undefined) {
    return { weights: [locate(weights), locate(weightsWithoutVoiceCloning)] }
  }
  const reason = `They are for those with a token: accept the terms on ${accessPage}, then set HF_TOKEN`
  return { weights: [locate(weightsWithoutVoiceCloning)], warnings: [withoutVoiceCloning(reason)] }
}
