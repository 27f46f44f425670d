import type { GpuKernels } from '@pocket/kernels-wgsl'
import { platform } from '#platform'
import { messageOf, PocketTtsError } from '../errors.ts'
import type { Warning } from '../generate/utterance.ts'
import type { LoadOptions } from '../load-options.ts'
import { HybridFrameSource } from '../sources/hybrid.ts'
import { SharedVoices } from '../sources/shared-voices.ts'
import type { Backend, BackendName, BackendReport } from './backend.ts'
import { type CpuOptions, loadCpuBackend } from './cpu-backend.ts'
import { loadGpuBackend, loadHybridBackend } from './gpu-backend.ts'
import { type KnownFrames, speakKnownFrames } from './known-frames.ts'
import { measureCpu } from './measure-cpu.ts'
import type { NetworkFiles } from './networks.ts'
import { aboutGpu, openGpu } from './open-gpu.ts'
import { type LoadOnGpu, loadRemakeable } from './remakeable.ts'
import { withReport } from './report.ts'
import { findDifference } from './self-check.ts'

type Options = CpuOptions & Pick<LoadOptions, 'lanes'>

/**
 * The fastest of what there is and computes rightly. Whatever is the matter with a GPU, there is the CPU; also later,
 * where a GPU is lost and cannot be had again.
 */
export const chooseBackend = async (
  files: NetworkFiles,
  options: Options,
  onWarning: (warning: Warning) => void,
  open: typeof openHardware = openHardware,
): Promise<Backend> => {
  const refuse = (reason: string): void =>
    onWarning({ code: 'gpu-refused', message: `the CPU is used: ${reason}` })
  const gpu = await openOrReason(open, refuse)
  if ('reason' in gpu) return withReport(await loadCpuBackend(files, options), gpu)
  const about = aboutGpu(gpu.device)
  const { cpu, expected } = await measureCpu(files, options, gpu)
  try {
    return await fastestOf(files, { cpu, gpu, expected, options, open: () => openAgain(open) })
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

interface Candidates {
  readonly cpu: Backend
  readonly gpu: GpuKernels
  readonly expected: KnownFrames
  readonly options: Options
  readonly open: () => Promise<GpuKernels>
}

/** Gives back what it does not choose; where it fails, all but the CPU. */
const fastestOf = async (
  files: NetworkFiles,
  { cpu, gpu, expected, options, open }: Candidates,
): Promise<Backend> => {
  const onGpu: LoadOnGpu = (...onto) => loadGpuBackend(...onto, expected, options.lanes)
  const both: LoadOnGpu = (...onto) => loadHybridBackend(...onto, expected, options)
  const candidate = await loadRemakeable(files, gpu, onGpu, open)
  try {
    const frameMs = { ...candidate.report.frameMs, ...(await timeOfBoth(cpu, candidate, expected, options)) }
    const name = nameOfLeast(frameMs)
    if (name === 'gpu') {
      cpu.dispose()
      return orCpu(withReport(candidate, { frameMs }), options)
    }
    candidate.dispose()
    const about = aboutGpu(gpu.device)
    if (name === 'cpu') return withReport(cpu, { ...about, frameMs, reason: 'it is no faster than the CPU' })
    // Read anew: as they are, both executors hold both networks.
    const hybrid = await loadRemakeable(files, await open(), both, open)
    cpu.dispose()
    const reason = 'the language model is faster on the CPU, the codec on the GPU'
    return orCpu(withReport(hybrid, { frameMs, reason }), options)
  } catch (error) {
    candidate.dispose()
    throw error
  }
}

/**
 * The language model of the one and the codec of the other, as they are in memory: measured in three frames. Not
 * considered where lanes are wanted, which it has not.
 */
const timeOfBoth = async (
  { flowLm }: Backend,
  { codec }: Backend,
  expected: KnownFrames,
  { lanes = 1 }: Options,
): Promise<BackendReport['frameMs']> => {
  if (lanes > 1) return {}
  const voices = new SharedVoices(flowLm)
  try {
    const found = await speakKnownFrames(new HybridFrameSource(flowLm, codec, voices), flowLm, expected)
    return findDifference(found, expected) === undefined ? { hybrid: found.frameMs } : {}
  } finally {
    voices.dispose()
  }
}

/** Of equals the one that needs the least: the CPU, then the GPU alone. */
const nameOfLeast = (frameMs: NonNullable<BackendReport['frameMs']>): BackendName => {
  const names = ['cpu', 'gpu', 'hybrid'] as const
  const [first] = names.toSorted((a, b) => (frameMs[a] ?? Infinity) - (frameMs[b] ?? Infinity))
  return first ?? 'cpu'
}

/** Made anew on the CPU, for good, where the GPU cannot be had again. */
const orCpu = (backend: Backend, options: Options): Backend => {
  const { remake } = backend
  if (!remake) return backend
  return {
    ...backend,
    remake: async (files) => {
      try {
        return orCpu(await remake(files), options)
      } catch (error) {
        files.options.signal?.throwIfAborted()
        const { name: _, ...report } = backend.report
        const reason = `the GPU went away and cannot be had again: ${messageOf(error)}`
        return withReport(await loadCpuBackend(files, options), { ...report, reason })
      }
    },
  }
}

type NoGpu = Omit<Backend['report'], 'name'> & { readonly reason: string }

/** A GPU that is one, or why there is none. Throws as `openGpu` does. */
const openHardware = async (): Promise<GpuKernels | NoGpu> => {
  if (!platform.mayHaveGpu()) return { reason: 'there is no GPU here' }
  const gpu = await openGpu()
  if (!gpu.isSoftware) return gpu
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

/** For a model that speaks already: that there is no GPU is a failure by now. */
const openAgain = async (open: typeof openHardware): Promise<GpuKernels> => {
  const gpu = await open()
  if ('reason' in gpu) throw new PocketTtsError('gpu-unavailable', gpu.reason)
  return gpu
}
