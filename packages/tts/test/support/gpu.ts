import process from 'node:process'
import { createGpuKernels } from '@pocket/kernels-wgsl'
import { KernelError } from '@pocket/nn'
// Names a driver that computes on the processor, where no other is named.
import '@tooling/fixtures/gpu'
import { describe } from 'vitest'

const reasonForNone = async (): Promise<string | undefined> => {
  try {
    const kernels = await createGpuKernels()
    kernels.dispose()
    return undefined
  } catch (error) {
    if (error instanceof KernelError && error.code === 'unavailable' && !process.env.CI) return error.message
    throw error
  }
}

const none = await reasonForNone()

/** Tests that take a GPU, or what stands for one; skipped with the reason where there is none, which CI does not take. */
export const describeOnGpu = (name: string, tests: () => void): void => {
  describe.skipIf(none)(none ? `${name} (skipped: ${none})` : name, tests)
}
