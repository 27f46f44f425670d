import { loadInWorker, type NoiseSource, PocketTts, type SpeechEngine } from '@pocket/tts'
import { fixturePath, readGoldens, readJson, relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fastest } from './support/levels.ts'

interface GoldenCase {
  case: string
  text: string
  temp: number
  lsd_decode_steps: number
  eos_threshold: number
  max_tokens: number
  frames_after_eos: number | null
  voice: string
  samples: number
  steps_run: number
}

/** Rows of the reference, in order. */
class GoldenRows implements NoiseSource {
  drawn = 0
  readonly #rows: Float32Array

  constructor(rows: Float32Array) {
    this.#rows = rows
  }

  next(length: number): Float32Array {
    const start = this.drawn++ * length
    return this.#rows.slice(start, start + length)
  }
}

describe.each(['tiny-2026-04', 'tiny-2026-01', 'tiny-24l'])(
  'utterances of the reference, in a worker: %s',
  (model) => {
    const { generate } = readJson<{ generate: GoldenCase[] }>(`tiny/${model}/golden.json`)
    const goldens = readGoldens(`tiny/${model}/golden.safetensors`)
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

    test.each(generate)('$case', async (golden) => {
      const name = golden.case
      const speak = async (engine: SpeechEngine) => {
        const noise = new GoldenRows(goldens.get(`gen.${name}.noise`)?.data ?? new Float32Array(0))
        const utterance = await engine.speak(golden.text, {
          voice: fixturePath(`tiny/${model}/${golden.voice}`),
          temperature: golden.temp,
          lsdSteps: golden.lsd_decode_steps,
          eosThreshold: golden.eos_threshold,
          maxTokensPerChunk: golden.max_tokens,
          noise,
          ...(golden.frames_after_eos === null ? {} : { framesAfterEos: golden.frames_after_eos }),
        })
        return { ...utterance, drawn: noise.drawn }
      }
      const spoken = await speak(there)
      expect(spoken).toEqual(await speak(here))
      expect([spoken.pcm.length, spoken.drawn]).toEqual([golden.samples, golden.steps_run])
      const pcm = goldens.get(`gen.${name}.pcm`)
      // The tolerances of the fixtures' README: 5e-5, and what grows without noise.
      if (pcm) expect(relativeL2(spoken.pcm, pcm.data)).toBeLessThan(name === 'temp0' ? 1e-3 : 5e-5)
    })
  },
)
