import type { FlowLm } from '@pocket/flowlm'
import { type FrameSource, samplesOf } from '../generate/frame-source.ts'
import { referenceNoise } from '../noise/normal-noise.ts'
import type { Voice } from '../voices/voice.ts'

/** What a backend makes of frames that every backend must make alike. */
export interface KnownFrames {
  readonly latents: readonly Float32Array[]
  readonly eosLogits: readonly number[]
  readonly pcm: readonly Float32Array[]
  /** The quickest of them, prompt and first use of kernels left out. */
  readonly frameMs: number
}

/** Three, so that whatever alternates between two places comes back to the first. */
const frames = 3

/** Rows of a prompt that fall into passes of every size that a GPU is given, and leave some over: see `gpuPromptRows`. */
const promptTokens = 41

/**
 * Speaks some frames from no voice, with a prompt that means nothing and noise that is always the same. With `follow`
 * each frame starts from the latent found there, so that small differences do not add up.
 */
export const speakKnownFrames = async (
  source: FrameSource,
  { config }: Pick<FlowLm, 'config'>,
  follow?: KnownFrames,
): Promise<KnownFrames> => {
  const noise = referenceNoise()
  const spoken = { latents: [] as Float32Array[], eosLogits: [] as number[], pcm: [] as Float32Array[] }
  let frameMs = Number.POSITIVE_INFINITY
  try {
    await source.start(emptyVoice(config), knownTokens(config.vocabularySize), frames)
    for (let frame = 0; frame < frames; frame++) {
      const start = performance.now()
      const previous = (follow ?? spoken).latents[frame - 1] ?? null
      const step = await source.next(previous, noise.next(config.latentDim), { lsdSteps: 1 })
      spoken.latents.push(step.latent)
      spoken.eosLogits.push(step.eosLogit)
      spoken.pcm.push(await samplesOf(step))
      if (frame > 0) frameMs = Math.min(frameMs, performance.now() - start)
    }
  } finally {
    await source.end()
  }
  return { ...spoken, frameMs }
}

const knownTokens = (vocabularySize: number): Uint32Array =>
  // 37 is prime: neighbours are far apart, and none is met twice in any vocabulary.
  Uint32Array.from({ length: promptTokens }, (_, index) => (37 * index + 5) % vocabularySize)

const emptyVoice = ({ layers, heads, headDim }: FlowLm['config']): Voice => ({
  kv: {
    positions: 0,
    heads,
    headDim,
    layers: Array.from({ length: layers }, () => ({ k: new Float32Array(0), v: new Float32Array(0) })),
  },
})
