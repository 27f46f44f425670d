import type { ModelFlags } from './load-model.ts'
import type { OutputFlags } from './produce.ts'

/** The options of `pocket encode` and `pocket decode`. */
export type CodecFlags = OutputFlags & Pick<ModelFlags, 'model' | 'simd'>
