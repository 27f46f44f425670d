import { type GenerateOptions, type LoadOptions, PocketTts } from '@pocket/tts'
import { chooseModel } from './choose-model.ts'
import type { ModelFlags } from './model-flags.ts'

export type Loading = Pick<LoadOptions, 'signal' | 'onProgress'> & Pick<GenerateOptions, 'onWarning'>

/** Loads the model that the options name, fetching what is missing. Throws as `PocketTts.load` and `chooseModel` do. */
export const loadModel = async (
  flags: ModelFlags,
  { signal, onProgress, onWarning }: Loading,
): Promise<PocketTts> => {
  let isFetched = false
  const tts = await PocketTts.load(chooseModel(flags).source, {
    backend: flags.backend,
    simd: flags.simd,
    threads: flags.threads,
    gpuTuning: flags.gpuTuning,
    precision: flags.quantize ? 'int8' : flags.precision,
    codecPrecision: flags.codecPrecision,
    signal,
    onProgress: (progress) => {
      isFetched ||= progress.stage === 'download'
      onProgress?.(progress)
    },
  })
  // Said when a model is fetched, not each time it speaks.
  if (isFetched) for (const warning of tts.warnings) onWarning?.(warning)
  return tts
}
