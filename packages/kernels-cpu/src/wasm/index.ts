import { KernelError } from '@pocket/nn'
import { obstacleToThreads } from './crew.ts'
import { WasmKernels } from './kernels.ts'
import { kernelModule, kernelName, type WasmLevel } from './module.ts'
import { probeSimd } from './probe.ts'
import { Runtime } from './runtime.ts'

/**
 * An executor with memory of its own. Without a number of `threads` it has as many as are useful and can be had.
 * Throws KernelError `unavailable` where the engine does not know the level's instructions or cannot start that many
 * threads, `self-test` where the level computes wrong numbers.
 */
export const createWasmKernels = async (level: WasmLevel, threads?: number): Promise<WasmKernels> => {
  const best = probeSimd()
  if (best === 'scalar' || (level === 'relaxed' && best !== 'relaxed')) {
    throw new KernelError(
      'unavailable',
      `simd: '${level}' asked for, but this JavaScript engine has '${best}' at best; use simd: 'auto'`,
    )
  }
  return new WasmKernels(kernelName(level), await createRuntime(level, threads))
}

const createRuntime = async (level: WasmLevel, threads: number | undefined): Promise<Runtime> => {
  const wanted = threads ?? usualThreads()
  const obstacle = wanted > 1 ? obstacleToThreads() : undefined
  if (threads !== undefined && obstacle !== undefined) {
    throw new KernelError('unavailable', `threads: ${threads} asked for, but ${obstacle}; use 1`)
  }
  if (wanted === 1 || obstacle !== undefined) return Runtime.create(await kernelModule(level))
  try {
    return await Runtime.createShared(await kernelModule(level, 'shared'), wanted)
  } catch (error) {
    if (threads === undefined && error instanceof KernelError && error.code === 'unavailable') {
      return Runtime.create(await kernelModule(level))
    }
    throw error
  }
}

/** More share what memory gives, which one or two use up, and the codec's products, of which the last have few panels. */
const mostUsualThreads = 4

const usualThreads = (): number =>
  Math.min(mostUsualThreads, Math.max(1, globalThis.navigator?.hardwareConcurrency ?? 1))
