import type { CpuKernels } from '@pocket/kernels-cpu'
import type { GpuKernels } from '@pocket/kernels-wgsl'
import { PocketTtsError } from '../errors.ts'
import type { FrameSource } from '../generate/frame-source.ts'
import { HybridFrameSource } from '../sources/hybrid.ts'
import { LaneSource } from '../sources/lane.ts'
import { LaneScheduler } from '../sources/lane-scheduler.ts'
import { type Pace, RunAheadSource } from '../sources/run-ahead.ts'
import { SharedVoices } from '../sources/shared-voices.ts'
import { KeptSpeakers } from '../sources/speakers.ts'
import type { Backend } from './backend.ts'
import { type CpuOptions, createCpu } from './cpu-backend.ts'
import { type KnownFrames, speakKnownFrames } from './known-frames.ts'
import { loadCodec, loadFlowLm, type NetworkFiles } from './networks.ts'
import { aboutGpu } from './open-gpu.ts'
import { oneByOne, paceFor } from './pace.ts'
import { findDifference } from './self-check.ts'
import { decoderTrial, frameTrial, tuneGpu } from './tune-gpu.ts'

/**
 * A GPU compiles a kernel for every number of rows it meets: so it meets two, and the last pass is filled up. A text of
 * the usual 15 to 30 tokens is one pass; each pass reads all weights.
 */
const gpuPromptRows = [32, 8]

/**
 * Positions of a lane, taken when the model is loaded: a voice of ten seconds, a chunk of 50 tokens and all its frames
 * are 410. Of the usual model a position takes 49 kB.
 */
const lanePositions = 1024

/** Voices that wait on the device for being used again: six to ten of the usual model, of ten seconds each. */
const idleVoiceBytes = 64 << 20

/**
 * Both networks on a GPU, every value of a frame staying there. Takes `gpu` over, also where it fails.
 * Throws PocketTtsError `gpu-refused` where the GPU does not compute what `expected` holds.
 */
export const loadGpuBackend = async (
  files: NetworkFiles,
  gpu: GpuKernels,
  expected: KnownFrames,
  lanes = 1,
): Promise<Backend> => {
  try {
    const model = {
      flowLm: await loadFlowLm(files, gpu, gpuPromptRows),
      codec: await loadCodec(files, gpu),
    }
    const about = aboutGpu(gpu.device)
    const voices = new SharedVoices(model.flowLm, { idleBytes: idleVoiceBytes })
    const scheduler = lanes > 1 && new LaneScheduler(model, gpu.withLanes(lanes), voices, lanePositions)
    const speakers = new KeptSpeakers(model, gpu, voices)
    const sourceAt = (pace: Pace): FrameSource =>
      scheduler ? new LaneSource(scheduler) : new RunAheadSource(model, gpu, pace, speakers)
    await tuneGpu(gpu, files.options, () => frameTrial(model, gpu.withLanes(lanes)))
    const found = await speakKnownFrames(sourceAt(oneByOne), model.flowLm, expected)
    refuseDifference(found, expected, about.adapter)
    const pace = paceFor(found.frameMs)
    return {
      report: {
        name: 'gpu',
        ...about,
        tuning: gpu.tuning,
        frameMs: { cpu: expected.frameMs, gpu: found.frameMs },
      },
      ...model,
      threads: 1,
      ...(scheduler && { lanes, maxPositions: lanePositions }),
      createSource: () => sourceAt(pace),
      lost: gpu.device.lost,
      dispose: () => gpu.dispose(),
    }
  } catch (error) {
    gpu.dispose()
    throw error
  }
}

/** The language model on the CPU, the codec on the GPU at the same time. As `loadGpuBackend` otherwise. */
export const loadHybridBackend = async (
  files: NetworkFiles,
  gpu: GpuKernels,
  expected: KnownFrames,
  options: CpuOptions,
): Promise<Backend> => {
  let cpu: CpuKernels | undefined
  const dispose = (): void => {
    gpu.dispose()
    cpu?.dispose()
  }
  try {
    cpu = await createCpu(options)
    const flowLm = await loadFlowLm(files, cpu)
    const codec = await loadCodec(files, gpu)
    const about = aboutGpu(gpu.device)
    const voices = new SharedVoices(flowLm)
    await tuneGpu(gpu, files.options, () => decoderTrial(codec, gpu))
    const createSource = (): HybridFrameSource => new HybridFrameSource(flowLm, codec, voices)
    const found = await speakKnownFrames(createSource(), flowLm, expected)
    refuseDifference(found, expected, about.adapter)
    const frameMs = { cpu: expected.frameMs, hybrid: found.frameMs }
    const { threads, simd } = cpu
    return {
      report: { name: 'hybrid', simd, ...about, tuning: gpu.tuning, frameMs },
      threads,
      flowLm,
      codec,
      createSource,
      lost: gpu.device.lost,
      dispose,
    }
  } catch (error) {
    dispose()
    throw error
  }
}

const refuseDifference = (found: KnownFrames, expected: KnownFrames, adapter: string): void => {
  const difference = findDifference(found, expected)
  if (difference === undefined) return
  throw new PocketTtsError(
    'gpu-refused',
    `${adapter} computes wrongly: ${difference}. Update its driver, or use backend 'cpu'`,
  )
}
