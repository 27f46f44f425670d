import { type CpuKernels, createCpuKernels, type SimdLevel } from '@pocket/kernels-cpu'
import { KernelError } from '@pocket/nn'
import { describe, test } from 'vitest'

/** The executors a test runs on: the oracle and the WebAssembly levels that this machine has. */
const levels: SimdLevel[] = ['scalar', 'simd', 'relaxed']

const openLevel = async (level: SimdLevel): Promise<CpuKernels | KernelError> => {
  try {
    return await createCpuKernels({ simd: level })
  } catch (error) {
    if (error instanceof KernelError && error.code === 'unavailable') return error
    throw error
  }
}

const opened = await Promise.all(levels.map(async (level) => [level, await openLevel(level)] as const))

/** Runs the same tests on every level; one that the machine lacks is reported as skipped, with the reason. */
export const describeOnEveryLevel = (name: string, tests: (kernels: CpuKernels) => void): void => {
  for (const [level, kernels] of opened) {
    describe(`${name} (${level})`, () => {
      if (kernels instanceof KernelError) test.skip(`not on this machine: ${kernels.message}`, () => {})
      else tests(kernels)
    })
  }
}
