import { mini } from '@pocket/mini'
import { type LoadOptions, PocketTts } from '@pocket/tts'

export interface ModelFlags extends Pick<LoadOptions, 'simd' | 'signal' | 'onProgress'> {
  /** A folder or config file; undefined for the embedded model. */
  readonly model: string | undefined
}

export const loadModel = ({ model, ...options }: ModelFlags): Promise<PocketTts> =>
  PocketTts.load(model ?? mini, options)
