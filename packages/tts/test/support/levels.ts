import { createCpuKernels, type SimdLevel } from '@pocket/kernels-cpu'
import { KernelError } from '@pocket/nn'
import { describe } from 'vitest'

/** Every level of the CPU kernels, with the reason why this machine lacks it where it does. */
const levels = await Promise.all(
  (['scalar', 'simd', 'relaxed'] as const).map(async (simd) => ({
    simd,
    lacking: await reasonForLacking(simd),
  })),
)

async function reasonForLacking(simd: SimdLevel): Promise<string | undefined> {
  try {
    const kernels = await createCpuKernels({ simd })
    kernels.dispose()
    return undefined
  } catch (error) {
    if (error instanceof KernelError && error.code === 'unavailable') return error.message
    throw error
  }
}

/** The same tests on every level; a level that is missing is skipped, and says why. */
export const describeLevels = (name: string, tests: (simd: SimdLevel) => void): void => {
  for (const { simd, lacking } of levels) {
    describe.skipIf(lacking)(`${name} on ${simd}${lacking ? `: ${lacking}` : ''}`, () => tests(simd))
  }
}

/** The fastest level here, for tests of what does not depend on it. */
export const fastest: SimdLevel = levels.findLast(({ lacking }) => lacking === undefined)?.simd ?? 'scalar'
