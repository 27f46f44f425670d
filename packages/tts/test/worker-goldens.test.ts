import { loadInWorker, PocketTts, type SpeechEngine } from '@pocket/tts'
import { fixturePath, relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GoldenUtterances, toleranceOf } from './support/golden-utterances.ts'
import { fastest } from './support/levels.ts'

describe.each(['tiny-2026-04', 'tiny-2026-01', 'tiny-24l'])(
  'utterances of the reference, in a worker: %s',
  (model) => {
    const goldens = new GoldenUtterances(model)
    const folder = fixturePath(`tiny/${model}`)
    let here: PocketTts
    let there: SpeechEngine
    beforeAll(async () => {
      here = await PocketTts.load(folder, { simd: fastest })
      there = await loadInWorker(folder, { simd: fastest })
    })
    afterAll(() => {
      here.dispose()
      there.dispose()
    })

    test.each(goldens.cases)('$case', async (golden) => {
      const name = golden.case
      const speak = async (engine: SpeechEngine) => {
        const noise = goldens.noise(name)
        const utterance = await engine.speak(golden.text, goldens.options(golden, noise))
        return { ...utterance, drawn: noise.rows }
      }
      const spoken = await speak(there)
      expect(spoken).toEqual(await speak(here))
      expect([spoken.pcm.length, spoken.drawn]).toEqual([golden.samples, golden.steps_run])
      const pcm = goldens.tensor(name, 'pcm')
      if (pcm) expect(relativeL2(spoken.pcm, pcm.data)).toBeLessThan(toleranceOf(name))
    })
  },
)
