import type { GpuDevice, GpuKernels } from '@pocket/kernels-wgsl'
import { KernelError } from '@pocket/nn'
import { PocketTtsError } from '../errors.ts'

/**
 * An executor on this machine's GPU. Throws PocketTtsError `gpu-unavailable`, with the reason, or `gpu-refused` where it
 * computes wrong numbers.
 */
export const openGpu = async (): Promise<GpuKernels> => {
  // Loaded when it is needed: most programs compute on the CPU.
  const { createGpuKernels } = await import('@pocket/kernels-wgsl')
  try {
    return await createGpuKernels()
  } catch (cause) {
    if (!(cause instanceof KernelError)) throw cause
    if (cause.code === 'self-test') throw new PocketTtsError('gpu-refused', cause.message, { cause })
    if (cause.code !== 'unavailable') throw cause
    throw new PocketTtsError('gpu-unavailable', cause.message, { cause })
  }
}

/** The adapter in its driver's words. */
const describeAdapter = ({ adapterInfo }: GpuDevice): string => {
  const { vendor, architecture, device, description } = adapterInfo
  return description || [vendor, architecture, device].filter(Boolean).join(' ') || 'a GPU without a name'
}

/** What a report says of a GPU, whether it is used or not. */
export const aboutGpu = (device: GpuDevice): { adapter: string; features: string[] } => ({
  adapter: describeAdapter(device),
  features: [...device.features],
})
