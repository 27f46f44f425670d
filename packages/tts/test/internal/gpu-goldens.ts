import process from 'node:process'
import type { LoadOptions, PocketTts, Utterance } from '@pocket/tts'
import { fixturePath, maxAbsoluteError, readGoldens, relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Step } from '../../src/generate/frame-source.ts'
import { RunAheadSource } from '../../src/sources/run-ahead.ts'
import {
  chunksOf,
  computed,
  emitted,
  GoldenUtterances,
  logitTolerance,
  toleranceOf,
} from '../support/golden-utterances.ts'
import { valuesOf } from '../support/voice-values.ts'

/** The steps that the driver reads from the GPU. */
const watchSteps = (): Disposable & { readonly steps: Step[] } => {
  const steps: Step[] = []
  const { run } = RunAheadSource.prototype
  const spy = vi.spyOn(RunAheadSource.prototype, 'run').mockImplementation(async function* (
    this: RunAheadSource,
    ...asked
  ) {
    for await (const step of run.apply(this, asked)) {
      steps.push(step)
      yield step
    }
  })
  return { steps, [Symbol.dispose]: () => spy.mockRestore() }
}

type LoadModel = (folder: string, options?: LoadOptions) => Promise<PocketTts>

/**
 * The reference's utterances of a model, and its voice cloned from the reference's recording. On a software adapter a
 * frame takes a tenth of a second: `without` names cases that say at length what others say; POCKET_GOLDENS=all takes
 * them too.
 */
export const describeGoldens = (model: string, load: LoadModel, without: readonly string[] = []): void => {
  describe(`the reference's utterances, ${model}`, () => {
    const goldens = new GoldenUtterances(model)
    const cases = goldens.cases.filter(
      ({ case: name }) => process.env.POCKET_GOLDENS === 'all' || !without.includes(name),
    )
    let tts: PocketTts

    beforeAll(async () => {
      tts = await load(fixturePath(`tiny/${model}`))
    }, 300_000)
    afterAll(() => tts.dispose())

    test.each(cases)(
      '$case',
      async (expected) => {
        const name = expected.case
        using watch = watchSteps()
        const { chunks, pcm } = await tts.speak(expected.text, goldens.options(expected))

        expect(chunks).toEqual(chunksOf(expected))
        expect(pcm.length).toBe(expected.samples)
        const logits = watch.steps.map(({ eosLogit }) => eosLogit)
        const goldenLogits = computed(expected.chunks, [...goldens.values(name, 'eos_logit')])
        expect(maxAbsoluteError(logits, goldenLogits)).toBeLessThan(logitTolerance)
        const latents = emitted(expected.chunks, watch.steps).flatMap(({ latent }) => [...latent])
        expect(relativeL2(latents, goldens.values(name, 'latent'))).toBeLessThan(toleranceOf(name))
        const golden = goldens.tensor(name, 'pcm')
        if (golden) expect(relativeL2(pcm, golden.data)).toBeLessThan(toleranceOf(name))
      },
      300_000,
    )

    test('a voice cloned from the recording', async () => {
      const wave = readGoldens('tiny/wave.safetensors').get('wave')?.data ?? new Float32Array(0)
      const voice = await tts.cloneVoice(wave.subarray(0, 45000))
      const golden = await tts.loadVoice('voice-f32')
      expect(voice.kv.positions).toBe(golden.kv.positions)
      expect(relativeL2(valuesOf(voice), valuesOf(golden))).toBeLessThan(5e-5)
    }, 300_000)
  })
}

/** Weights in other forms than the file's. */
export const describePrecisions = (load: LoadModel): void => {
  const goldens = new GoldenUtterances('tiny-2026-04')
  const expected = goldens.cases.find(({ case: name }) => name === 'short')!

  const speak = async (precision: LoadOptions['precision']): Promise<Utterance> => {
    const tts = await load(fixturePath('tiny/tiny-2026-04'), { precision })
    const spoken = await tts.speak(expected.text, goldens.options(expected))
    tts.dispose()
    return spoken
  }

  test('with weights in float32, which holds bfloat16 exactly, as the reference too', async () => {
    const { chunks, pcm } = await speak('f32')
    expect(chunks).toEqual(chunksOf(expected))
    expect(relativeL2(pcm, goldens.values('short', 'pcm'))).toBeLessThan(toleranceOf('short'))
  }, 300_000)

  test('with weights in eight bits ends where the reference does, and sounds a little different', async () => {
    const { chunks, pcm } = await speak('int8')
    expect(chunks).toEqual(chunksOf(expected))
    const difference = relativeL2(pcm, goldens.values('short', 'pcm'))
    expect(difference).toBeGreaterThan(toleranceOf('short'))
    // Measured: 0.0027.
    expect(difference).toBeLessThan(0.02)
  }, 300_000)
}
