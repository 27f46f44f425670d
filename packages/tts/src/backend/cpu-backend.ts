import { type CpuKernels, type CpuKernelsOptions, createCpuKernels } from '@pocket/kernels-cpu'
import { CpuFrameSource } from '../sources/cpu.ts'
import { SharedVoices } from '../sources/shared-voices.ts'
import type { Backend } from './backend.ts'
import { defined, loadCodec, loadFlowLm, type NetworkFiles } from './networks.ts'

export type CpuOptions = { readonly [K in keyof CpuKernelsOptions]: CpuKernelsOptions[K] | undefined }

export const createCpu = ({ simd, threads }: CpuOptions): Promise<CpuKernels> =>
  createCpuKernels(defined({ simd, threads }))

/** Both networks on one executor of the CPU. */
export const loadCpuBackend = async (files: NetworkFiles, options: CpuOptions): Promise<Backend> => {
  const kernels = await createCpu(options)
  try {
    const flowLm = await loadFlowLm(files, kernels)
    const codec = await loadCodec(files, kernels)
    const voices = new SharedVoices(flowLm)
    const { threads, simd } = kernels
    return {
      report: { name: 'cpu', simd },
      flowLm,
      codec,
      threads,
      createSource: () => new CpuFrameSource(flowLm, codec, { threads, voices }),
      dispose: () => kernels.dispose(),
    }
  } catch (error) {
    kernels.dispose()
    throw error
  }
}
