import { cp, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadOptions, type LoadProgress, PocketTts } from '@pocket/tts'
import { fixturePath, readGoldens } from '@tooling/fixtures'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'
import { valuesOf } from './support/voice-values.ts'

const recording = (readGoldens('tiny/wave.safetensors').get('wave')?.data ?? new Float32Array(0)).subarray(
  0,
  5000,
)
describe('the weights that only cloning needs', () => {
  let folder: string
  let models: PocketTts[]

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pocket-late-'))
    await cp(fixturePath('tiny/tiny-2026-04'), join(folder, 'model'), { recursive: true })
    models = []
  })
  afterEach(async () => {
    for (const model of models) model.dispose()
    await rm(folder, { recursive: true })
  })

  const load = async (options: LoadOptions = {}): Promise<PocketTts> => {
    const model = await PocketTts.load(join(folder, 'model'), { backend: 'cpu', simd: fastest, ...options })
    models.push(model)
    return model
  }
  const weights = () => join(folder, 'model', 'model.safetensors')

  test('are read with the first recording, and give the same voice', async () => {
    const [late, ready] = [await load(), await load({ cloning: 'ready' })]
    expect(late.canCloneVoices).toBe(true)
    const voices = await Promise.all([late, late, ready].map((model) => model.cloneVoice(recording)))
    expect(new Set(voices.map((voice) => valuesOf(voice).join())).size).toBe(1)
  })

  test('are not counted as loaded before', async () => {
    const codecBytes = async (options: LoadOptions) => {
      const reports: LoadProgress[] = []
      await load({ ...options, onProgress: (progress) => reports.push(progress) })
      const last = reports.filter(({ stage }) => stage === 'codec').at(-1)
      expect(last?.loadedBytes).toBe(last?.totalBytes)
      return last?.loadedBytes ?? 0
    }
    expect(await codecBytes({})).toBeLessThan(0.7 * (await codecBytes({ cloning: 'ready' })))
  })

  test('must still be there, unless they were read with everything else', async () => {
    const [late, ready] = [await load(), await load({ cloning: 'ready' })]
    const voice = await late.loadVoice('voice-3')
    await rename(weights(), join(folder, 'elsewhere'))
    await refusal(late.cloneVoice(recording), 'not-found', weights())
    expect((await late.generate('Yes.', { voice, eosThreshold: -1000 })).length).toBeGreaterThan(0)
    const expected = await ready.cloneVoice(recording)
    await rename(join(folder, 'elsewhere'), weights())
    expect(valuesOf(await late.cloneVoice(recording))).toEqual(valuesOf(expected))
  })

  test('are refused where they are those of another model by now', async () => {
    const late = await load()
    await cp(fixturePath('tiny/tiny-24l/model.safetensors'), weights())
    await refusal(late.cloneVoice(recording), 'invalid-model', 'have changed since')
  })

  test('are awaited by nobody who leaves', async () => {
    const late = await load()
    const controller = new AbortController()
    const [left, stayed] = [
      late.cloneVoice(recording, { signal: controller.signal }),
      late.cloneVoice(recording),
    ]
    controller.abort(new Error('enough'))
    await expect(left).rejects.toThrow('enough')
    expect((await stayed).kv.positions).toBe(4)
    const last = late.cloneVoice(recording)
    late.dispose()
    await refusal(last, 'disposed', 'disposed')
  })
})
