import type { GpuKernels } from '@pocket/kernels-wgsl'
import type { Backend } from './backend.ts'
import { defined, type NetworkFiles } from './networks.ts'
import { aboutGpu } from './open-gpu.ts'

/** Loads a backend on an executor, which it takes over, also where it fails. */
export type LoadOnGpu = (files: NetworkFiles, gpu: GpuKernels) => Promise<Backend>

/** A backend that can be made anew, on whatever GPU there is then; that one must make the same known frames. */
export const loadRemakeable = async (
  files: NetworkFiles,
  gpu: GpuKernels,
  load: LoadOnGpu,
  open: () => Promise<GpuKernels>,
): Promise<Backend> => {
  const backend = await load(files, gpu)
  return {
    ...backend,
    remake: async (again) => {
      const other = await open()
      return loadRemakeable(cutAlike(again, backend, other), other, load, open)
    },
  }
}

/** On a GPU of the same name work is cut as it was, so that the bits stay the same; on another as is best there. */
const cutAlike = (files: NetworkFiles, { report }: Backend, { device }: GpuKernels): NetworkFiles => {
  if (aboutGpu(device).adapter !== report.adapter) return files
  return { ...files, options: { ...files.options, ...defined({ gpuTuning: report.tuning }) } }
}
