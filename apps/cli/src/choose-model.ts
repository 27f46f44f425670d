import { mini } from '@pocket/mini'
import { type Checkpoint, checkpoints, findCheckpoint, type ModelSource } from '@pocket/tts'
import { InputError } from './errors.ts'
import type { ModelFlags } from './model-flags.ts'

export interface ChosenModel {
  /** What `PocketTts.load` takes. */
  readonly source: ModelSource
  /** Of a published model. */
  readonly checkpoint?: Checkpoint
}

/** The model that the options name; the embedded one where they name none. Throws PocketTtsError or InputError. */
export const chooseModel = ({ language, config, model }: ModelFlags): ChosenModel => {
  if (language !== undefined) return published(findCheckpoint(language))
  if (config !== undefined) return { source: checkConfig(config) }
  if (model === undefined) return { source: mini }
  const checkpoint = checkpoints.find(({ id, aliases }) => id === model || aliases.includes(model))
  return checkpoint ? published(checkpoint) : { source: model }
}

const published = (checkpoint: Checkpoint): ChosenModel => ({ source: checkpoint.id, checkpoint })

const checkConfig = (config: string): string => {
  // A revision or a query may follow the name.
  if (/\.ya?ml([@?][^/]*)?$/i.test(config)) return config
  throw new InputError(
    `--config is '${config}', which is no .yaml file; a published model is named with --language, a folder with --model`,
  )
}
