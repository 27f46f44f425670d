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
import { aboutGpu, isSoftware, openGpu } from './open-gpu.ts'

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
  if (backend === 'cpu') return loadCpuBackend(files, options)
  if (backend === 'auto' && files.options.codecPrecision === 'int16') {
    const reason = 'codecPrecision int16 is computed on the CPU alone'
    return withReport(await loadCpuBackend(files, options), { reason })
  }
  if (backend === 'auto') return chooseBackend(files, options, onWarning)
  const gpu = await openGpu()
  const { cpu, expected } = await measureCpu(files, options, gpu)
  // Its memory is not wanted for more.
  cpu.dispose()
  return backend === 'gpu'
    ? loadGpuBackend(files, gpu, expected, options.lanes)
    : loadHybridBackend(files, gpu, expected, options)
}

/** The CPU, and what it computes. Where it cannot, `gpu` is given back too. */
const measureCpu = async (
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

/** The faster of what there is and computes rightly. Whatever is the matter with a GPU, there is the CPU. */
export const chooseBackend = async (
  files: NetworkFiles,
  options: CpuOptions & Pick<LoadOptions, 'lanes'>,
  onWarning: (warning: Warning) => void,
  open: typeof openHardware = openHardware,
): Promise<Backend> => {
  const refuse = (reason: string): void =>
    onWarning({ code: 'gpu-refused', message: `the CPU is used: ${reason}` })
  const gpu = await openOrReason(open, refuse)
  if ('reason' in gpu) return withReport(await loadCpuBackend(files, options), gpu)
  const { cpu, expected } = await measureCpu(files, options, gpu)
  const about = aboutGpu(gpu.device)
  try {
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
    const reason = messageOf(error)
    refuse(reason)
    return withReport(cpu, { ...about, reason })
  }
}

type NoGpu = Omit<Backend['report'], 'name'> & { readonly reason: string }

/** A GPU that is one, or why there is none. Throws as `openGpu` does. */
const openHardware = async (): Promise<GpuKernels | NoGpu> => {
  if (!platform.mayHaveGpu()) return { reason: 'there is no GPU here' }
  const gpu = await openGpu()
  if (!isSoftware(gpu.device)) return gpu
  const about = aboutGpu(gpu.device)
  gpu.dispose()
  return { ...about, reason: 'it computes on the CPU as well, and slower' }
}

/** Whatever keeps a GPU from being opened is why it is not used. That there is none is nothing to refuse. */
const openOrReason = async (
  open: typeof openHardware,
  refuse: (reason: string) => void,
): Promise<GpuKernels | NoGpu> => {
  try {
    return await open()
  } catch (error) {
    const reason = messageOf(error)
    if (!(error instanceof PocketTtsError && error.code === 'gpu-unavailable')) refuse(reason)
    return { reason }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const withReport = (backend: Backend, report: Omit<Backend['report'], 'name'>): Backend => ({
  ...backend,
  report: { ...backend.report, ...report },
})
