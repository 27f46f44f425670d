import type { ModelFlags } from './model-flags.ts'
import type { OutputFlags } from './produce.ts'

/** The options of `pocket encode` and `pocket decode`. */
export type CodecFlags = OutputFlags & ModelFlags
