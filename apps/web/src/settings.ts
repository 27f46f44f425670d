import type { SimdLevel } from '@pocket/kernels-cpu'
import type { LoadOptions } from '@pocket/tts'

export interface Settings {
  /** `?simd=relaxed|simd|scalar`: the level that computes. Undefined: the best one of this browser. */
  readonly simd: SimdLevel | undefined
  /** `?backend=auto|cpu|hybrid|gpu`: what computes. Undefined: `auto`. */
  readonly backend: LoadOptions['backend']
  /** `?prefill=0.5`: seconds of speech that must be ready before it is heard. Undefined: the usual 0.16. */
  readonly prefill: number | undefined
}

/** For trying things out: what a slower machine would do, and what helps it. Anything that makes no sense is ignored. */
export const readSettings = (query: string): Settings => {
  const parameters = new URLSearchParams(query)
  const prefill = Number.parseFloat(parameters.get('prefill') ?? '')
  const simd = parameters.get('simd')
  return {
    simd: simd === 'relaxed' || simd === 'simd' || simd === 'scalar' ? simd : undefined,
    backend: backends.find((backend) => backend === parameters.get('backend')),
    prefill: prefill >= 0 ? prefill : undefined,
  }
}

const backends = ['auto', 'cpu', 'hybrid', 'gpu'] as const
