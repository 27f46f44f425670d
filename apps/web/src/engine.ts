import { probeSimd, type SimdLevel } from '@pocket/kernels-cpu'
import { mini } from '@pocket/mini'
import { type LoadProgress, loadInWorker, type SpeechEngine } from '@pocket/tts'
import type { Settings } from './settings.ts'

export interface LoadedEngine {
  readonly engine: SpeechEngine
  readonly simd: SimdLevel
}

const bestFirst: readonly SimdLevel[] = ['relaxed', 'simd', 'scalar']

/**
 * The embedded model on a thread of its own, on the best level of this browser, or the one asked for. Levels are asked
 * for by name, so that the page can say which one computes; one that fails its self-test makes room for the next.
 */
export const loadEngine = async (
  { simd: wanted, backend }: Pick<Settings, 'simd' | 'backend'>,
  onProgress: (progress: LoadProgress) => void,
): Promise<LoadedEngine> => {
  const levels = wanted ? [wanted] : bestFirst.slice(bestFirst.indexOf(probeSimd()))
  for (const [index, simd] of levels.entries()) {
    try {
      return { engine: await loadInWorker(mini, { simd, backend, onProgress }), simd }
    } catch (error) {
      if (!isFailedSelfTest(error) || index === levels.length - 1) throw error
    }
  }
  throw new Error('this browser runs no level of the kernels')
}

const isFailedSelfTest = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'self-test'
