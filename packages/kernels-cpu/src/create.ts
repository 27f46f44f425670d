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
  /** Threads that share the work. Only 1 is available yet. */
  readonly threads?: number
}

/** An executor on the CPU. */
export interface CpuKernels extends Kernels {
  readonly simd: SimdLevel
  readonly threads: number
}

/**
 * Makes an executor with memory of its own. Throws KernelError `unavailable` for a level or thread count that this
 * machine lacks, `self-test` where a level computes wrong numbers here.
 */
export const createCpuKernels = async (options: CpuKernelsOptions = {}): Promise<CpuKernels> => {
  const { simd = 'auto', threads = 1 } = options
  if (threads !== 1) {
    throw new KernelError('unavailable', `threads: ${threads} asked for; only 1 is available yet`)
  }
  const { kernels, level } =
    simd === 'auto' ? await createBest() : { kernels: await createLevel(simd), level: simd }
  return Object.assign(kernels, { simd: level, threads })
}

/** A level that fails its self-test is passed over: a wrong instruction must not become wrong sound. */
const createBest = async (): Promise<{ kernels: Kernels; level: SimdLevel }> => {
  for (const level of bestFirst.slice(bestFirst.indexOf(probeSimd()))) {
    try {
      return { kernels: await createLevel(level), level }
    } catch (error) {
      if (!(error instanceof KernelError && error.code === 'self-test')) throw error
    }
  }
  return { kernels: new ScalarKernels(), level: 'scalar' }
}

const bestFirst: readonly SimdLevel[] = ['relaxed', 'simd', 'scalar']

const createLevel = async (level: SimdLevel): Promise<Kernels> => {
  if (level === 'scalar') return new ScalarKernels()
  // Loaded when it is needed: the kernels' bytes are no burden to a machine that cannot run them.
  const { createWasmKernels } = await import('./wasm/index.ts')
  return createWasmKernels(level)
}
