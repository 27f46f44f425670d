import { type CpuKernels, createCpuKernels, probeSimd, type SimdLevel } from '@pocket/kernels-cpu'
import { afterAll, beforeAll, describe } from 'vitest'

const levels: readonly SimdLevel[] = ['scalar', 'simd', 'relaxed']

/** Runs a suite on every executor of the CPU; the title of a skipped one says why. */
export const describeOnEveryLevel = (title: string, suite: (kernels: () => CpuKernels) => void): void => {
  const best = probeSimd()
  for (const level of levels) {
    const missing = levels.indexOf(level) > levels.indexOf(best)
    const reason = missing ? ` (skipped: the best level of this machine is ${best})` : ''
    describe.skipIf(missing)(`${title}, ${level}${reason}`, () => {
      let kernels: CpuKernels
      beforeAll(async () => {
        kernels = await createCpuKernels({ simd: level })
      })
      afterAll(() => kernels.dispose())
      suite(() => kernels)
    })
  }
}
