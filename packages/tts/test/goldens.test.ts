import type { SimdLevel } from '@pocket/kernels-cpu'
import { type NoiseSource, PocketTts } from '@pocket/tts'
import {
  fixturePath,
  type Golden,
  maxAbsoluteError,
  readGoldens,
  readJson,
  relativeL2,
} from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { describeLevels } from './support/levels.ts'

interface GoldenChunk {
  text: string
  ids: number[]
  frames_after_eos: number
  max_gen_len: number
  steps_run: number
  frames: number
  eos_step: number | null
}

interface GoldenCase {
  case: string
  text: string
  temp: number
  lsd_decode_steps: number
  eos_threshold: number
  max_tokens: number
  frames_after_eos: number | null
  voice: string
  chunks: GoldenChunk[]
  frames: number
  samples: number
  steps_run: number
}

// From the fixtures' README: 5e-5 for whole passes in float32; without noise small differences grow.
const tolerance = (name: string): number => (name === 'temp0' ? 1e-3 : 5e-5)
const logitTolerance = 1e-3

/** The golden rows in their order, however they are asked for; asking for more than there are is an error. */
class GoldenNoise implements NoiseSource {
  rows = 0
  readonly #golden: Golden

  constructor(golden: Golden) {
    this.#golden = golden
  }

  next(length: number): Float32Array {
    const [rows = 0, width] = this.#golden.shape
    expect(length).toBe(width)
    expect(this.rows).toBeLessThan(rows)
    const start = this.rows++ * length
    return this.#golden.data.slice(start, start + length)
  }
}

/** What the calls of a spied method resolved to. */
const outcomes = <T>(spy: { mock: { settledResults: { type: string; value: unknown }[] } }): T[] =>
  spy.mock.settledResults.map(({ value }) => value as T)

const joined = (rows: readonly Float32Array[]): number[] => rows.flatMap((row) => [...row])

/** A chunk's last step is computed only where its logit can end the chunk, which is when nothing follows the end. */
const computedSteps = ({ frames, frames_after_eos, eos_step }: GoldenChunk): number =>
  eos_step !== null && frames_after_eos === 0 ? frames + 1 : frames

/** Of one value per step of the reference, those of the steps that are computed. */
const computed = <T>(chunks: readonly GoldenChunk[], perStep: readonly T[]): T[] => {
  let start = 0
  return chunks.flatMap((chunk) => {
    const values = perStep.slice(start, start + computedSteps(chunk))
    start += chunk.steps_run
    return values
  })
}

/** Of one value per computed step, those of the emitted frames. */
const emitted = <T>(chunks: readonly GoldenChunk[], perComputedStep: readonly T[]): T[] => {
  let start = 0
  return chunks.flatMap((chunk) => {
    const values = perComputedStep.slice(start, start + chunk.frames)
    start += computedSteps(chunk)
    return values
  })
}

/** Every model, and one of them on every number of threads that differs in kind: alone, one helper, several. */
const variants = (simd: SimdLevel): { model: string; threads: number }[] => {
  const others = simd === 'scalar' ? [] : [2, 3]
  const usual = others[0] ?? 1
  return [
    ...[1, ...others].map((threads) => ({ model: 'tiny-2026-04', threads })),
    ...['tiny-2026-01', 'tiny-24l'].map((model) => ({ model, threads: usual })),
  ]
}

describeLevels('utterances of the reference', (simd) => {
  describe.each(variants(simd))('$model, threads: $threads', ({ model, threads }) => {
    const { generate } = readJson<{ generate: GoldenCase[] }>(`tiny/${model}/golden.json`)
    const goldens = readGoldens(`tiny/${model}/golden.safetensors`)
    const golden = (name: string): Golden => goldens.get(name) ?? { shape: [0], data: new Float32Array(0) }
    let tts: PocketTts

    beforeAll(async () => {
      tts = await PocketTts.load(fixturePath(`tiny/${model}`), { simd, threads })
    })
    afterAll(() => tts.dispose())

    test.each(generate)('$case', async (expected) => {
      const name = expected.case
      const noise = new GoldenNoise(golden(`gen.${name}.noise`))
      using step = vi.spyOn(tts.flowLm, 'step')
      using sampleLatent = vi.spyOn(tts.flowLm, 'sampleLatent')

      const utterance = await tts.speak(expected.text, {
        voice: fixturePath(`tiny/${model}/${expected.voice}`),
        temperature: expected.temp,
        lsdSteps: expected.lsd_decode_steps,
        eosThreshold: expected.eos_threshold,
        maxTokensPerChunk: expected.max_tokens,
        noise,
        ...(expected.frames_after_eos === null ? {} : { framesAfterEos: expected.frames_after_eos }),
      })

      expect(utterance.chunks).toEqual(
        expected.chunks.map((chunk) => ({
          text: chunk.text,
          ids: chunk.ids,
          framesAfterEos: chunk.frames_after_eos,
          maxFrames: chunk.max_gen_len,
          frames: chunk.frames,
          eosStep: chunk.eos_step,
        })),
      )
      expect(noise.rows).toBe(expected.steps_run)
      expect(utterance.pcm.length).toBe(expected.samples)

      const logits = outcomes<{ eosLogit: number }>(step).map(({ eosLogit }) => eosLogit)
      const goldenLogits = computed(expected.chunks, [...golden(`gen.${name}.eos_logit`).data])
      expect(maxAbsoluteError(logits, goldenLogits)).toBeLessThan(logitTolerance)

      const latents = joined(emitted(expected.chunks, outcomes<Float32Array>(sampleLatent)))
      expect(relativeL2(latents, golden(`gen.${name}.latent`).data)).toBeLessThan(tolerance(name))
      const pcm = goldens.get(`gen.${name}.pcm`)
      if (pcm) expect(relativeL2(utterance.pcm, pcm.data)).toBeLessThan(tolerance(name))
    })
  })
})
