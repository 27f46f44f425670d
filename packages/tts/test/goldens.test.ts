import type { SimdLevel } from '@pocket/kernels-cpu'
import { PocketTts } from '@pocket/tts'
import { fixturePath, maxAbsoluteError, relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  chunksOf,
  computed,
  emitted,
  GoldenUtterances,
  logitTolerance,
  toleranceOf,
} from './support/golden-utterances.ts'
import { describeLevels } from './support/levels.ts'

/** What the calls of a spied method resolved to. */
const outcomes = <T>(spy: { mock: { settledResults: { type: string; value: unknown }[] } }): T[] =>
  spy.mock.settledResults.map(({ value }) => value as T)

const joined = (rows: readonly Float32Array[]): number[] => rows.flatMap((row) => [...row])

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
    const goldens = new GoldenUtterances(model)
    let tts: PocketTts

    beforeAll(async () => {
      tts = await PocketTts.load(fixturePath(`tiny/${model}`), { simd, threads })
    })
    afterAll(() => tts.dispose())

    test.each(goldens.cases)('$case', async (expected) => {
      const name = expected.case
      const noise = goldens.noise(name)
      using step = vi.spyOn(tts.flowLm, 'step')
      using sampleLatent = vi.spyOn(tts.flowLm, 'sampleLatent')

      const utterance = await tts.speak(expected.text, goldens.options(expected, noise))

      expect(utterance.chunks).toEqual(chunksOf(expected))
      expect(noise.rows).toBe(expected.steps_run)
      expect(utterance.pcm.length).toBe(expected.samples)

      const logits = outcomes<{ eosLogit: number }>(step).map(({ eosLogit }) => eosLogit)
      const goldenLogits = computed(expected.chunks, [...goldens.values(name, 'eos_logit')])
      expect(maxAbsoluteError(logits, goldenLogits)).toBeLessThan(logitTolerance)

      const latents = joined(emitted(expected.chunks, outcomes<Float32Array>(sampleLatent)))
      expect(relativeL2(latents, goldens.values(name, 'latent'))).toBeLessThan(toleranceOf(name))
      const pcm = goldens.tensor(name, 'pcm')
      if (pcm) expect(relativeL2(utterance.pcm, pcm.data)).toBeLessThan(toleranceOf(name))
    })
  })
})
