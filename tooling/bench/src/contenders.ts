import { probeSimd } from '@pocket/kernels-cpu'
import type { LoadOptions } from '@pocket/tts'
import type { Contender } from './contender.ts'
import type { CodecArithmetic, KeptAs } from './full-work.ts'
import { rivals } from './rivals.ts'
import type { FloorSettings } from './subjects/floor.ts'
import type { OnnxSettings } from './subjects/onnxruntime.ts'
import type { PocketSettings } from './subjects/pocket.ts'

/** What is varied: every combination becomes a row. */
export interface Variants {
  readonly simd: readonly NonNullable<LoadOptions['simd']>[]
  readonly threads: readonly number[]
  /** `stored`: as the file has them. */
  readonly precision: readonly (NonNullable<LoadOptions['precision']> | 'stored')[]
  readonly codec: readonly NonNullable<LoadOptions['codecPrecision']>[]
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
      variants.precision.flatMap((precision) =>
        variants.codec.map((codecPrecision) => {
          const engine = [
            simd,
            ...threadsIfMany(threads, variants),
            ...(precision === 'stored' ? [] : [precision]),
            ...(codecPrecision === 'stored' ? [] : [`codec ${codecPrecision}`]),
          ].join(', ')
          const options = {
            simd,
            threads,
            codecPrecision,
            ...(precision === 'stored' ? {} : { precision }),
          }
          const settings: PocketSettings = { source, options }
          const kept = precision === 'stored' ? 'bf16' : precision
          const codec = codecPrecision === 'stored' ? 'f32' : codecPrecision
          const known = source === 'mini' ? {} : knownWork(simd, kept, codec)
          return { model, engine, subject: { module: 'pocket', settings }, ...known }
        }),
      ),
    ),
  )

/** Other runtimes with the work of the model of full size. */
export const rivalContenders = (model: string, variants: Variants): Contender[] =>
  rivals.flatMap((rival) =>
    variants.threads.flatMap((threads) =>
      (['f32', 'int8'] as const).map((precision) => {
        const engine = [rival, ...threadsIfMany(threads, variants), precision].join(', ')
        const settings: OnnxSettings = { rival, precision, threads }
        const known = knownWork(availableLevels().at(-1) ?? 'scalar', precision, 'f32')
        return { model, engine, subject: { module: 'onnxruntime', settings }, ...known }
      }),
    ),
  )

/** The floors that contenders of one model name. */
export const floorContenders = (model: string, contenders: readonly Contender[]): Contender[] => {
  const floors = new Map(contenders.flatMap(({ floor }) => (floor ? [[floorName(floor), floor]] : [])))
  return [...floors].map(([engine, floor]) => ({
    model,
    engine,
    subject: { module: 'floor', settings: floor },
    kept: floor.kept,
    codec: floor.codec,
  }))
}

export const floorName = ({ level, kept, codec }: FloorSettings): string =>
  `floor: ${level}, ${kept}${codec === 'f32' ? '' : `, codec ${codec}`}`

const knownWork = (
  simd: Variants['simd'][number],
  kept: KeptAs,
  codec: CodecArithmetic,
): Pick<Contender, 'kept' | 'codec' | 'floor'> =>
  simd === 'simd' || simd === 'relaxed'
    ? { kept, codec, floor: { level: simd, kept, codec } }
    : { kept, codec }

const threadsIfMany = (threads: number, variants: Variants): string[] =>
  String(variants.threads) === '1' ? [] : [`${threads} ${threads === 1 ? 'thread' : 'threads'}`]
