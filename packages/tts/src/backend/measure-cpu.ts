import type { GpuKernels } from '@pocket/kernels-wgsl'
import type { Backend } from './backend.ts'
import { type CpuOptions, loadCpuBackend } from './cpu-backend.ts'
import { type KnownFrames, speakKnownFrames } from './known-frames.ts'
import type { NetworkFiles } from './networks.ts'

/** The CPU, and what it computes. Where it cannot, `gpu` is given back too. */
export const measureCpu = async (
  files: NetworkFiles,
  options: CpuOptions,
  gpu: GpuKernels,
): Promise<{ cpu: Backend; expected: KnownFrames }> => {
  let cpu: Backend | undefined
  try {
    cpu = await loadCpuBackend(files, options)
    return { cpu, expected: await speakKnownFrames(cpu.createSource(), cpu.flowLm) }
  } catch (error) {
    cpu?.dispose()
    gpu.dispose()
    throw error
  }
}
