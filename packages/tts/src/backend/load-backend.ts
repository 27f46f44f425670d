import type { GpuKernels } from '@pocket/kernels-wgsl'
import { platform } from '#platform'
import { PocketTtsError } from '../errors.ts'
import type { Warning } from '../generate/utterance.ts'
import type { LoadOptions } from '../load-options.ts'
import type { Backend } from './backend.ts'
import { type CpuOptions, loadCpuBackend } from './cpu-backend.ts'
import { loadGpuBackend, loadHybridBackend } from './gpu-backend.ts'
import { type KnownFrames, speakKnownFrames } from './known-frames.ts'
import type { NetworkFiles } from './networks.ts'
import { describeAdapter, isSoftware, openGpu } from './open-gpu.ts'

/**
 * Both networks where the options want them. A GPU must first compute some frames as the CPU does; asked for by name
 * it is used or refused, under `auto` it is used where it is there, right and faster.
 *
 * Throws PocketTtsError `gpu-unavailable` or `gpu-refused` for backends asked for by name; what the networks throw.
 */
export const loadBackend = async (
  files: NetworkFiles,
  options: Pick<LoadOptions, 'backend' | 'lanes' | keyof CpuOptions>,
  onWarning: (warning: Warning) => void,
): Promise<Backend> => {
  const { backend = 'auto' } = options
  // Only the CPU has a codec of integers.
  const isForCpu = backend === 'auto' && files.options.codecPrecision === 'int16'
  if (backend === 'cpu' || isForCpu) return loadCpuBackend(files, options)
  if (backend === 'auto') return chooseBackend(files, options, onWarning)
  const gpu = await openGpu()
  const expected = await knownFramesOfCpu(files, options, gpu)
  return backend === 'gpu'
    ? loadGpuBackend(files, gpu, expected, options.lanes)
    : loadHybridBackend(files, gpu, expected, options)
}

/** What the CPU computes, which is then given back: its memory is not wanted for more. */
const knownFramesOfCpu = async (
  files: NetworkFiles,
  options: CpuOptions,
  gpu: GpuKernels,
): Promise<KnownFrames> => {
  try {
    const cpu = await loadCpuBackend(files, options)
    try {
      return await speakKnownFrames(cpu.createSource(), cpu.flowLm)
    } finally {
      cpu.dispose()
    }
  } catch (error) {
    gpu.dispose()
    throw error
  }
}

/** The faster of what there is and computes rightly. Whatever is the matter with a GPU, there is the CPU. */
export const chooseBackend = async (
  files: NetworkFiles,
  options: CpuOptions & Pick<LoadOptions, 'lanes'>,
  onWarning: (warning: Warning) => void,
  open: typeof openHardware = openHardware,
): Promise<Backend> => {
  const gpu = await open()
  if ('reason' in gpu) return withReport(await loadCpuBackend(files, options), gpu)
  let cpu: Backend
  try {
    cpu = await loadCpuBackend(files, options)
  } catch (error) {
    gpu.dispose()
    throw error
  }
  const about = aboutGpu(gpu)
  try {
    const expected = await speakKnownFrames(cpu.createSource(), cpu.flowLm)
    const candidate = await loadGpuBackend(files, gpu, expected, options.lanes)
    const { frameMs } = candidate.report
    if ((frameMs?.gpu ?? Number.POSITIVE_INFINITY) < expected.frameMs) {
      cpu.dispose()
      return candidate
    }
    candidate.dispose()
    return withReport(cpu, { ...about, reason: 'it is no faster than the CPU', ...(frameMs && { frameMs }) })
  } catch (error) {
    if (files.options.signal?.aborted) {
      cpu.dispose()
      throw error
    }
    const reason = error instanceof Error ? error.message : String(error)
    onWarning({ code: 'gpu-refused', message: `the CPU is used: ${reason}` })
    return withReport(cpu, { ...about, reason })
  }
}

/** A GPU that is one, or why there is none. */
const openHardware = async (): Promise<
  GpuKernels | (Omit<Backend['report'], 'name'> & { readonly reason: string })
> => {
  if (!platform.mayHaveGpu()) return { reason: 'there is no GPU here' }
  try {
    const gpu = await openGpu()
    if (!isSoftware(gpu.device)) return gpu
    const about = aboutGpu(gpu)
    gpu.dispose()
    return { ...about, reason: 'it computes on the CPU as well, and slower' }
  } catch (error) {
    if (error instanceof PocketTtsError && error.code === 'gpu-unavailable') return { reason: error.message }
    throw error
  }
}

const aboutGpu = ({ device }: GpuKernels) => ({
  adapter: describeAdapter(device),
  features: [...device.features],
})

const withReport = (backend: Backend, report: Omit<Backend['report'], 'name'>): Backend => ({
  ...backend,
  report: { name: backend.report.name, ...report },
})
