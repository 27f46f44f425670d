import type { Checkpoint } from '@pocket/nn'
import type { FlowLmConfig } from './config.ts'
import { type DenseLayer, dense, silu } from './dense-layer.ts'

/**
 * Timestep embeddings of the flow head. They depend on nothing but the number of steps, so they are made once on the
 * host, in double precision, and are constants from there on.
 */
export interface TimestepEmbedder {
  /** As stored: a checkpoint's own rounding of them is part of the model. `[timeEmbeddingDim / 2]` */
  readonly frequencies: Float32Array
  /** `[flowDim, timeEmbeddingDim]` */
  readonly first: DenseLayer
  /** `[flowDim, flowDim]` */
  readonly second: DenseLayer
  /** Scale of the RMSNorm, `[flowDim]` */
  readonly alpha: Float32Array
}

/** The reference's RMSNorm eps (`modules/mlp.py`). */
const rmsNormEps = 1e-5

/** The embedders of an interval's start and of its end. */
export const loadTimestepEmbedders = async (
  checkpoint: Checkpoint,
  config: FlowLmConfig,
): Promise<[start: TimestepEmbedder, end: TimestepEmbedder]> => [
  await loadTimestepEmbedder(checkpoint, 'flow_net.time_embed.0.', config),
  await loadTimestepEmbedder(checkpoint, 'flow_net.time_embed.1.', config),
]

const loadTimestepEmbedder = async (
  checkpoint: Checkpoint,
  prefix: string,
  { flowDim, timeEmbeddingDim }: FlowLmConfig,
): Promise<TimestepEmbedder> => {
  // Copies: a float32 checkpoint hands out views of the whole file.
  const values = async (name: string, shape: number[]): Promise<Float32Array> =>
    (await checkpoint.values(prefix + name, shape)).slice()
  return {
    frequencies: await values('freqs', [timeEmbeddingDim / 2]),
    first: {
      weight: await values('mlp.0.weight', [flowDim, timeEmbeddingDim]),
      bias: await values('mlp.0.bias', [flowDim]),
    },
    second: {
      weight: await values('mlp.2.weight', [flowDim, flowDim]),
      bias: await values('mlp.2.bias', [flowDim]),
    },
    alpha: await values('mlp.3.alpha', [flowDim]),
  }
}

/** The embeddings of `steps` equal intervals from 0 to 1, one below the other: `[steps, flowDim]` */
export const embedSteps = (
  embedders: readonly [TimestepEmbedder, TimestepEmbedder],
  steps: number,
): Float32Array => {
  const width = embedders[0].alpha.length
  const rows = new Float32Array(steps * width)
  for (let step = 0; step < steps; step++) {
    rows.set(embedInterval(embedders, step / steps, (step + 1) / steps), step * width)
  }
  return rows
}

/** The mean of both embeddings for the interval from `start` to `end`, times in [0, 1]: `[flowDim]` */
export const embedInterval = (
  [startEmbedder, endEmbedder]: readonly [TimestepEmbedder, TimestepEmbedder],
  start: number,
  end: number,
): Float32Array => {
  const ends = embedTimestep(endEmbedder, end)
  return embedTimestep(startEmbedder, start).map((value, i) => (value + (ends[i] ?? Number.NaN)) / 2)
}

/** The embedding of one time: sinusoids, linear, SiLU, linear, RMSNorm. */
export const embedTimestep = (
  { frequencies, first, second, alpha }: TimestepEmbedder,
  time: number,
): Float32Array =>
  Float32Array.from(rmsNorm(dense(second, dense(first, sinusoids(frequencies, time)).map(silu)), alpha))

/** Cosines, then sines. The reference multiplies time and frequency in float32. */
export const sinusoids = (frequencies: Float32Array, time: number): Float64Array => {
  const angles = Float64Array.from(frequencies, (frequency) => Math.fround(Math.fround(time) * frequency))
  const out = new Float64Array(2 * angles.length)
  out.set(angles.map(Math.cos))
  out.set(angles.map(Math.sin), angles.length)
  return out
}

/** `alpha · x / √(eps + variance)`, the variance unbiased (over n − 1), the mean left in. */
export const rmsNorm = (x: Float64Array, alpha: Float32Array): Float64Array => {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (x.length - 1)
  const scale = 1 / Math.sqrt(rmsNormEps + variance)
  return x.map((value, i) => value * scale * (alpha[i] ?? Number.NaN))
}
