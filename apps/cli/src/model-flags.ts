import type { LoadOptions } from '@pocket/tts'

/** The options that say which model, and how it is computed; at most one of the first three is given. */
export interface ModelFlags
  extends Pick<LoadOptions, 'backend' | 'codecPrecision' | 'gpuTuning' | 'precision' | 'simd' | 'threads'> {
  readonly language?: string
  readonly config?: string
  readonly model?: string
  /** In place of `precision`. */
  readonly quantize?: boolean
}
