import { KernelError, type Kernels } from '@pocket/nn'
import { ScalarKernels } from './scalar/kernels.ts'
import { probeSimd, type SimdLevel } from './wasm/probe.ts'

export interface CpuKernelsOptions {
  /**
   * `auto` (default) takes the best level that this machine has and that passes its self-test; a level asked for by
   * name is that one or an error. `relaxed` is the fastest; the last digits of its numbers depend on the processor.
   * `simd` computes the same on every machine, but for the engine's own cosines. `scalar` is slow, and for comparison.
   */
  readonly simd?: 'auto' | SimdLevel
  /**
   * Threads that share the work, the caller's included, 1 to 64: the numbers computed are the same for any. Default: as
   * many as the machine has processors, at most 4, and 1 where memory cannot be shared (pages that are not cross-origin
   * isolated, `simd: 'scalar'`). A number asked for is that one or an error.
   */
  readonly threads?: number
}

/** An executor on the CPU. */
export interface CpuKernels extends Kernels {
  readonly simd: SimdLevel
  readonly threads: number
}

/**
 * Makes an executor with memory and threads of its own, both of which `dispose` gives back. Throws KernelError
 * `unavailable` for a level or thread count that this machine lacks, `self-test` where a level computes wrong numbers
 * here.
 */
export const createCpuKernels = async (options: CpuKernelsOptions = {}): Promise<CpuKernels> => {
  const { simd = 'auto', threads } = options
  checkThreads(threads)
  return simd === 'auto' ? createBest(threads) : createLevel(simd, threads)
}

/** Far more than share work well: a bound on mistakes. */
const mostThreads = 64

const checkThreads = (threads: number | undefined): void => {
  if (threads === undefined) return
  if (Number.isSafeInteger(threads) && threads >= 1 && threads <= mostThreads) return
  throw new KernelError(
    'unavailable',
    `threads: ${threads} asked for; it must be a whole number from 1 to ${mostThreads}`,
  )
}

/** A level that fails its self-test is passed over: a wrong instruction must not become wrong sound. */
const createBest = async (threads: number | undefined): Promise<CpuKernels> => {
  for (const level of bestFirst.slice(bestFirst.indexOf(probeSimd()))) {
    try {
      return await createLevel(level, threads)
    } catch (error) {
      if (!(error instanceof KernelError && error.code === 'self-test')) throw error
    }
  }
  return createScalar(threads)
}

const bestFirst: readonly SimdLevel[] = ['relaxed', 'simd', 'scalar']

const createLevel = async (level: SimdLevel, threads: number | undefined): Promise<CpuKernels> => {
  if (level === 'scalar') return createScalar(threads)
  // Loaded when it is needed: the kernels' bytes are no burden to a machine that cannot run them.
  const { createWasmKernels } = await import('./wasm/index.ts')
  return Object.assign(await createWasmKernels(level, threads), { simd: level })
}

const createScalar = (threads = 1): CpuKernels => {
  if (threads !== 1) {
    throw new KernelError('unavailable', `threads: ${threads} asked for; the level 'scalar' has 1`)
  }
  return Object.assign(new ScalarKernels(), { simd: 'scalar' as const, threads })
}
