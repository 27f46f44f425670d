import { openAsBlob, readFileSync } from 'node:fs'
import { SafeTensors } from '@pocket/safetensors'
import { loadInWorker, type SpeechEngine, type WorkerModelParts, type WorkerModelSource } from '@pocket/tts'
import { fixturePath, readFixture } from '@tooling/fixtures'
import { beforeAll, describe, expect, test } from 'vitest'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'

const place = (name: string): string => fixturePath(`tiny/tiny-2026-04/${name}`)
const bytes = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFixture(`tiny/tiny-2026-04/${name}`))
const voice = place('voices/voice-3.safetensors')

/** The samples of one frame: a model that is really there. */
const oneFrame = (engine: SpeechEngine): Promise<Float32Array> =>
  engine.generate('Yes.', { voice, eosThreshold: -1000, framesAfterEos: 1 })

let expected: Float32Array
beforeAll(async () => {
  const engine = await loadInWorker(place(''), { simd: fastest })
  expected = await oneFrame(engine)
  engine.dispose()
})

const speaks = async (source: WorkerModelSource): Promise<void> => {
  const engine = await loadInWorker(source, { simd: fastest })
  expect(await oneFrame(engine)).toEqual(expected)
  engine.dispose()
}

const partsWith = (model: WorkerModelParts['model']): WorkerModelParts => ({
  name: 'tiny-2026-04',
  model,
  tokenizer: bytes('tokenizer.model'),
})

describe('weights', () => {
  test('as bytes move to the worker, and leave the array empty', async () => {
    const model = bytes('model.safetensors')
    await speaks(partsWith(model))
    expect(model.length).toBe(0)
    await refusal(loadInWorker(partsWith(model)), 'invalid-option', 'have moved', 'SharedArrayBuffer')
  })

  test('in shared memory are shared', async () => {
    const model = new Uint8Array(new SharedArrayBuffer(bytes('model.safetensors').length))
    model.set(bytes('model.safetensors'))
    await speaks(partsWith(model))
    await speaks(partsWith(model))
    expect(model.subarray(0, 100)).toEqual(bytes('model.safetensors').subarray(0, 100))
  })

  test('in a part of a larger buffer are copied', async () => {
    const file = bytes('model.safetensors')
    const larger = new Uint8Array(file.length + 8)
    larger.set(file, 8)
    await speaks(partsWith(larger.subarray(8)))
    expect(larger.subarray(8)).toEqual(file)
    // Node's own buffers.
    await speaks(partsWith(readFileSync(place('model.safetensors'))))
  })

  test('as a Blob, a path or a URL stay where they are', async () => {
    const blob = new Blob([bytes('model.safetensors')])
    await speaks(partsWith(blob))
    expect(blob.size).toBe(bytes('model.safetensors').length)
    await speaks(partsWith(place('model.safetensors')))
    await speaks(partsWith(new URL(`file://${place('model.safetensors')}`)))
    await speaks(new URL(`file://${place('')}`))
  })

  test('that are open already, or a Blob of a file, cannot go there', async () => {
    const reader = SafeTensors.fromBytes(bytes('model.safetensors'))
    const source = partsWith(reader as unknown as Uint8Array)
    await refusal(loadInWorker(source), 'unsupported', 'open reader', 'the path')
    const file = await openAsBlob(place('model.safetensors'))
    await refusal(loadInWorker(partsWith(file)), 'invalid-option', 'cannot go to the worker')
  })
})

describe('everything else', () => {
  test('is copied, and stays as it was', async () => {
    const model = bytes('model.safetensors')
    const parts = {
      ...partsWith(model),
      config: bytes('config.yaml'),
      voices: { one: bytes('voices/voice-3.safetensors'), two: new URL(`file://${voice}`), three: voice },
      defaultVoice: 'two',
    }
    const engine = await loadInWorker(parts, { simd: fastest })
    expect([engine.voices(), engine.defaultVoice]).toEqual([['one', 'three', 'two'], 'two'])
    expect(parts.tokenizer).toEqual(bytes('tokenizer.model'))
    expect(parts.config).toEqual(bytes('config.yaml'))
    expect(parts.voices.one).toEqual(bytes('voices/voice-3.safetensors'))

    const file = bytes('voices/voice-3.safetensors')
    const loaded = await engine.loadVoice(file)
    expect(file).toEqual(bytes('voices/voice-3.safetensors'))
    expect(await engine.loadVoice('one')).toMatchObject({ kv: loaded.kv })
    const spoken = await engine.generate('Yes.', { voice: loaded })
    expect(spoken).toEqual(await engine.generate('Yes.', { voice: 'two' }))
    expect(loaded.kv.layers[0]?.k.length).toBeGreaterThan(0)
    engine.dispose()
  })

  test('may be given as an object, if it is a config', async () => {
    const engine = await loadInWorker({
      ...partsWith(bytes('model.safetensors')),
      config: { default_temperature: 0.125 },
    })
    expect(engine.config.defaultTemperature).toBe(0.125)
    engine.dispose()
  })
})
