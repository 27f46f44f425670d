import type { Warning } from '../generate/utterance.ts'
import type { ConfigFile } from './config-schema.ts'
import type { FilePart, TwoFiles, WeightsPart } from './part.ts'

/** Where everything of a model is, and what its config file says. */
export interface ResolvedModel {
  readonly name: string | undefined
  /** Tried in order: the weights with voice cloning before those without. */
  readonly weights: readonly (WeightsPart | TwoFiles)[]
  readonly tokenizer: FilePart
  readonly config: ConfigFile
  /** The config file's name for messages. */
  readonly configName: string
  readonly voices: ReadonlyMap<string, FilePart>
  /** Folders that may hold more voices than could be listed. */
  readonly voiceFolders: readonly URL[]
  readonly defaultVoice: string | undefined
  /** What went less well in finding them. */
  readonly warnings?: readonly Warning[]
}
