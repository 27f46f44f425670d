import { probeSimd } from '@pocket/kernels-cpu'
import type { LoadOptions } from '@pocket/tts'
import type { Contender } from './contender.ts'
import type { PocketSettings } from './subjects/pocket.ts'

/** What is varied: every combination becomes a row. */
export interface Variants {
  readonly simd: readonly NonNullable<LoadOptions['simd']>[]
  readonly threads: readonly number[]
  /** `stored`: as the file has them. */
  readonly precision: readonly (NonNullable<LoadOptions['precision']> | 'stored')[]
}

/** The WebAssembly levels that this machine has. */
export const availableLevels = (): Variants['simd'] =>
  (({ scalar: [], simd: ['simd'], relaxed: ['simd', 'relaxed'] }) as const)[probeSimd()]

/** A row for every combination. What is the same for all and usual is not said. */
export const pocketContenders = (
  model: string,
  source: PocketSettings['source'],
  variants: Variants,
): Contender[] =>
  variants.simd.flatMap((simd) =>
    variants.threads.flatMap((threads) =>
      variants.precision.map((precision) => {
        const engine = [
          simd,
          ...(String(variants.threads) === '1' ? [] : [`${threads} ${threads === 1 ? 'thread' : 'threads'}`]),
          ...(precision === 'stored' ? [] : [precision]),
        ].join(', ')
        const options = { simd, threads, ...(precision === 'stored' ? {} : { precision }) }
        const settings: PocketSettings = { source, options }
        return { model, engine, subject: { module: 'pocket', settings } }
      }),
    ),
  )
