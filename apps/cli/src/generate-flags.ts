import type { ModelFlags } from './model-flags.ts'

/** The options of `pocket generate`, as the command line gives them; what is undefined is the model's own. */
export interface GenerateFlags extends ModelFlags {
  readonly text?: string
  readonly voice?: string
  readonly outputPath: string
  readonly seed?: bigint
  readonly temperature?: number
  readonly lsdDecodeSteps?: number
  readonly noiseClamp?: number
  readonly eosThreshold?: number
  readonly framesAfterEos?: number
  readonly maxTokens?: number
  readonly quiet?: boolean
}
