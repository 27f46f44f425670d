import { KernelError, type Kernels } from '@pocket/nn'
import { WasmKernels } from './kernels.ts'
import { kernelModule, kernelName, type WasmLevel } from './module.ts'
import { probeSimd } from './probe.ts'
import { Runtime } from './runtime.ts'

/**
 * An executor with memory of its own. Throws KernelError `unavailable` where the engine does not know the level's
 * instructions, `self-test` where they compute wrong numbers.
 */
export const createWasmKernels = async (level: WasmLevel): Promise<Kernels> => {
  const best = probeSimd()
  if (best === 'scalar' || (level === 'relaxed' && best !== 'relaxed')) {
    throw new KernelError(
      'unavailable',
      `simd: '${level}' asked for, but this JavaScript engine has '${best}' at best; use simd: 'auto'`,
    )
  }
  return new WasmKernels(kernelName(level), await Runtime.create(await kernelModule(level)))
}
