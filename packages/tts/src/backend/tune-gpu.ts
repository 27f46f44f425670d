import type { KvSnapshot } from '@pocket/flowlm'
import type { GpuKernels, Tuning, TuningTrial } from '@pocket/kernels-wgsl'
import type { MimiCodec } from '@pocket/mimi'
import { KernelError } from '@pocket/nn'
import { PocketTtsError } from '../errors.ts'
import { referenceNoise } from '../noise/normal-noise.ts'
import type { Choice } from '../options.ts'
import { Speaker, type SpeakingModel } from '../sources/speaker.ts'

/** How work is cut for a GPU: `Tuning` of `@pocket/kernels-wgsl`. */
export type GpuTuning = Tuning

/** A choice of cuts, or some of their properties pinned. */
export type GpuTuningOption = Choice<'gpuTuning'> | Partial<GpuTuning>

interface TuneGpuOptions {
  readonly gpuTuning?: GpuTuningOption | undefined
  readonly signal?: AbortSignal | undefined
}

/** Frames of a run: some milliseconds on the GPUs that are fast, and half a second on those too slow to speak. */
const frames = 4

/** Of the voice that is spoken with: ten seconds. */
const positions = 125

/** Frames of the longest choice: six cuts, each compared in five rounds, of which the best takes part in all. */
const mostFrames = frames * 64

/**
 * Cuts the work of `gpu` as `wanted` says: pinned, or as the fastest of some does on `trial`s. What stands for a GPU on a
 * processor is not asked: it would compile for minutes. Throws PocketTtsError `invalid-option` for a cut that cannot be,
 * the reason of the signal.
 */
export const tuneGpu = async (
  gpu: GpuKernels,
  { gpuTuning = 'auto', signal }: TuneGpuOptions,
  open: () => TuningTrial,
): Promise<void> => {
  if (typeof gpuTuning === 'object') pin(gpu, gpuTuning)
  else if (!gpu.isSoftware) await choose(gpu, gpuTuning, () => abortable(open(), signal))
}

const choose = async (
  gpu: GpuKernels,
  wanted: 'auto' | 'fastest',
  open: () => TuningTrial,
): Promise<void> => {
  try {
    await gpu.tune(open, { bits: wanted === 'fastest' ? 'changed' : 'kept' })
  } catch (error) {
    // What is spoken with may have room where trials beside it have none.
    if (!(error instanceof KernelError && error.code === 'out-of-memory')) throw error
  }
}

const abortable = (trial: TuningTrial, signal: AbortSignal | undefined): TuningTrial => ({
  ...trial,
  run: async () => {
    signal?.throwIfAborted()
    return trial.run()
  },
})

const pin = (gpu: GpuKernels, tuning: Partial<GpuTuning>): void => {
  try {
    gpu.retune(tuning)
  } catch (cause) {
    if (!(cause instanceof KernelError && cause.code === 'shape')) throw cause
    throw new PocketTtsError('invalid-option', `gpuTuning: ${cause.message}`, { cause })
  }
}

/** Whole frames, each from the latent before, on as many lanes as `executor` has. */
export const frameTrial = (model: SpeakingModel, executor: GpuKernels): TuningTrial => {
  const { flowLm, codec } = model
  const { lanes } = executor
  const state = flowLm.createState({
    kernels: executor,
    ...(lanes === 1 && { adopt: silentVoice(flowLm.config) }),
    capacity: positions + mostFrames,
  })
  const speaker = new Speaker(model, executor, state, () => codec.createDecoderPass(executor))
  const noise = referenceNoise()
  const rows = Array.from({ length: frames }, () => ({ noise: noise.next(lanes * codec.config.latentDim) }))
  const { stream, beginning } = speaker.streamFor(1)
  for (let lane = 0; lane < lanes; lane++) stream.write('latent', beginning, lane)
  return {
    // A run waits for its kernels; this leaves its frames out of the time that they take to compile.
    ready: () => executor.ready(),
    run: async () => (await stream.submit(rows)).flatMap((outputs) => Object.values(outputs)),
    dispose: () => speaker.dispose(),
  }
}

/** The codec alone, frame by frame. */
export const decoderTrial = (codec: MimiCodec, executor: GpuKernels): TuningTrial => {
  const decoder = codec.createDecoder()
  const noise = referenceNoise()
  const latents = Array.from({ length: frames }, () => noise.next(codec.config.latentDim))
  return {
    ready: () => executor.ready(),
    run: async () => {
      const pcm: Float32Array[] = []
      for (const latent of latents) pcm.push(await decoder.decode(latent))
      return pcm
    },
    dispose: () => decoder.dispose(),
  }
}

const silentVoice = ({ layers, heads, headDim }: SpeakingModel['flowLm']['config']): KvSnapshot => {
  const nothing = new Float32Array(positions * heads * headDim)
  return {
    positions,
    heads,
    headDim,
    layers: Array.from({ length: layers }, () => ({ k: nothing, v: nothing })),
  }
}
