import { KernelError } from '@pocket/nn'
import { findGpu } from '#gpu'

/** The fastest adapter that the platform offers. Throws KernelError `unavailable`. */
export const findAdapter = async (): Promise<GPUAdapter> => {
  const gpu = await findGpu()
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' })
  if (adapter) return adapter
  throw new KernelError(
    'unavailable',
    'WebGPU is here, but no GPU that it can use: update the driver, or use the CPU (@pocket/kernels-cpu)',
  )
}
