import { KernelError } from '@pocket/nn'
import type { FindGpu } from './find-gpu.ts'

export type { FindGpu }

/** Pages and their workers. */
export const findGpu: FindGpu = async () => {
  const { gpu } = globalThis.navigator
  if (gpu) return gpu
  throw new KernelError(
    'unavailable',
    'this browser has no WebGPU (navigator.gpu), or the page is not served securely: use https or localhost',
  )
}
