import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PocketTts } from '@pocket/tts'
import { type Golden, readFixture, readGoldens, readJson, relativeL2 } from '@tooling/fixtures'
import { HubServer } from '@tooling/fixtures/hub'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'
import { ungated } from './support/tiny.ts'

/** Every kind of checkpoint there is, in small. The reference made the goldens of the last one too. */
const kinds = [
  { kind: 'of 2026-01', name: 'tiny-2026-01', isOpen: false },
  { kind: 'of 2026-04', name: 'tiny-2026-04', isOpen: false },
  { kind: 'of 24 layers', name: 'tiny-24l', isOpen: false },
  { kind: 'without voice cloning', name: 'tiny-2026-04', isOpen: true },
]

interface GoldenCase {
  case: string
  text: string
  temp: number
  lsd_decode_steps: number
  eos_threshold: number
  frames: number
}

let server: HubServer
let folder: string
beforeAll(async () => {
  server = await HubServer.start()
  folder = await mkdtemp(join(tmpdir(), 'pocket-any-'))
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

describe.each(kinds)('a model $kind', ({ kind, name, isOpen }) => {
  const file = (path: string): Uint8Array => readFixture(`tiny/${name}/${path}`)
  const repository = `someone/${kind.replaceAll(' ', '-')}`
  let place: string

  beforeAll(async () => {
    const weights = file('model.safetensors')
    const files = {
      'config.yaml': file('config.yaml'),
      'tokenizer.model': file('tokenizer.model'),
      'model.safetensors': isOpen ? ungated(weights) : weights,
    }
    place = await mkdtemp(join(folder, 'model-'))
    for (const [path, bytes] of Object.entries(files)) {
      await writeFile(join(place, path), bytes)
      server.add(repository, path, bytes, path === 'model.safetensors')
    }
  })

  const goldens = readGoldens(`tiny/${name}/golden.safetensors`)
  const golden = (tensor: string): Golden => goldens.get(tensor) ?? { shape: [0], data: new Float32Array(0) }
  const { generate } = readJson<{ generate: GoldenCase[] }>(`tiny/${name}/golden.json`)
  const expected = generate.find((each) => each.case === 'short')!

  /** The golden utterance, with the golden noise. */
  const speak = async (tts: PocketTts): Promise<Float32Array> => {
    const { data } = golden('gen.short.noise')
    let used = 0
    const next = (length: number): Float32Array => {
      used += length
      return data.slice(used - length, used)
    }
    return tts.generate(expected.text, {
      voice: await tts.loadVoice(file('voices/voice-f32.safetensors')),
      temperature: expected.temp,
      lsdSteps: expected.lsd_decode_steps,
      eosThreshold: expected.eos_threshold,
      noise: { next },
    })
  }

  test.each([
    ['its folder', () => place],
    ['its config file', () => join(place, 'config.yaml')],
    ['its repository on the hub', () => `hf://${repository}`],
    ['its config file on the hub', () => `hf://${repository}/config.yaml@main`],
  ])('speaks as the reference does, from %s', async (_title, source) => {
    const hub = {
      endpoint: server.endpoint,
      cacheDir: join(folder, 'cache'),
      token: false,
      offline: false,
    } as const
    const tts = await PocketTts.load(source(), { simd: fastest, hub })
    const pcm = await speak(tts)
    expect(pcm.length).toBe(1920 * expected.frames)
    // From the fixtures' README: 5e-5 for whole passes in float32.
    expect(relativeL2(pcm, golden('gen.short.pcm').data)).toBeLessThan(5e-5)
    expect(tts.canCloneVoices).toBe(!isOpen)
    const recording = new Float32Array(1920)
    if (isOpen) await refusal(tts.cloneVoice(recording), 'unsupported', 'without voice cloning')
    else expect((await tts.cloneVoice(recording)).kv.positions).toBeGreaterThanOrEqual(1)
    tts.dispose()
  })
})
