import process from 'node:process'
import { createGpuKernels, type GpuKernels } from '@pocket/kernels-wgsl'
import { KernelError } from '@pocket/nn'
import { afterAll, beforeAll, describe, test } from 'vitest'

/**
 * Debian's Chromium brings a Vulkan driver that computes on the processor: where no other driver is named, tests run on
 * it. It has subgroups of four, no float16, and is stricter about accuracy than most GPUs.
 */
process.env['VK_DRIVER_FILES'] ??= '/usr/lib/chromium/vk_swiftshader_icd.json'

const variants = [
  { title: 'with subgroups', subgroups: true },
  { title: 'without subgroups', subgroups: false },
]

const open = async (options: { lanes?: number; subgroups?: boolean }): Promise<GpuKernels | KernelError> => {
  try {
    return await createGpuKernels(options)
  } catch (error) {
    if (error instanceof KernelError && error.code === 'unavailable' && !process.env['CI']) return error
    throw error
  }
}

/** A suite on the GPU, or on what stands for one; skipped with the reason where there is none, which CI does not take. */
export const describeOnGpu = async (
  title: string,
  suite: (kernels: () => GpuKernels) => void,
  options: { lanes?: number; variants?: readonly { title: string; subgroups: boolean }[] } = {},
): Promise<void> => {
  for (const variant of options.variants ?? variants) {
    const found = await open({ ...options, subgroups: variant.subgroups })
    describe(`${title}, ${variant.title}`, () => {
      if (found instanceof KernelError) {
        test.skip(`no GPU here: ${found.message}`, () => {})
        return
      }
      afterAll(() => found.dispose())
      beforeAll(() => {
        found.device.addEventListener('uncapturederror', ({ error }) => {
          throw error
        })
      })
      suite(() => found)
    })
  }
}
