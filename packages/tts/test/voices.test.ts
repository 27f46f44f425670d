import { SafeTensors, writeSafeTensors } from '@pocket/safetensors'
import { type LoadVoiceOptions, PocketTts, type Voice } from '@pocket/tts'
import { fixturePath, type Golden, readFixture, readGoldens, readJson, relativeL2 } from '@tooling/fixtures'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { refusal } from './support/errors.ts'
import { describeLevels, fastest } from './support/levels.ts'
import { rewrite, tinyFolder, tinyParts, tinyVoice } from './support/tiny.ts'
import { valuesOf } from './support/voice-values.ts'

interface VoiceCase {
  file: string
  must: 'load' | 'refuse'
  why: string
  offset?: number
  probe?: string
}

const { ids, cases } = readJson<{ ids: number[]; cases: VoiceCase[] }>('tiny/tiny-2026-04/voices/voices.json')
const probes = readGoldens('tiny/tiny-2026-04/voices/probe.safetensors')
const noGolden: Golden = { shape: [0], data: new Float32Array(0) }
const bytesOf = (file: string): Uint8Array => readFixture(`tiny/tiny-2026-04/${file}`)
const small = bytesOf('voices/voice-3.safetensors')

/** The latents of three steps after the golden text: temperature 0.7, the golden noise. */
const latentsWith = async (tts: PocketTts, voice: Voice): Promise<number[]> => {
  const state = tts.flowLm.createState({ adopt: voice.kv })
  await tts.flowLm.promptTokens(ids, state)
  const noise = (probes.get('probe.noise') ?? noGolden).data.map((value) => value * Math.sqrt(0.7))
  const latents: number[] = []
  let previous: Float32Array | null = null
  for (let step = 0; step < 3; step++) {
    const { hidden } = await tts.flowLm.step(previous, state)
    previous = await tts.flowLm.sampleLatent(hidden, noise.slice(32 * step, 32 * step + 32), 1)
    latents.push(...previous)
  }
  state.dispose()
  return latents
}

describeLevels('voices', (simd) => {
  let tts: PocketTts
  beforeAll(async () => {
    tts = await PocketTts.load(tinyFolder, { simd })
  })
  afterAll(() => tts.dispose())

  const loaded = cases.filter(({ must }) => must === 'load')
  test.each(loaded)('$file: $why', async ({ file, offset = -1, probe = '' }) => {
    const voice = await tts.loadVoice(bytesOf(file))
    expect(voice.kv.positions).toBe(offset)
    for (const { k, v } of voice.kv.layers) {
      expect([k.length, v.length]).toEqual([offset * 2 * 64, offset * 2 * 64])
    }
    expect(relativeL2(await latentsWith(tts, voice), (probes.get(probe) ?? noGolden).data)).toBeLessThan(5e-5)
  })

  test('the oldest files hold a projected prompt, which the model then hears', async () => {
    using model = disposable(await PocketTts.load(fixturePath('tiny/tiny-2026-01'), { simd }))
    const prompt = readGoldens('tiny/tiny-2026-01/golden.safetensors').get('clone.cond') ?? noGolden
    const file = writeSafeTensors({
      audio_prompt: { dtype: 'F32', shape: [1, ...prompt.shape], data: prompt.data },
    })
    const voice = await model.tts.loadVoice(file)
    const golden = await model.tts.loadVoice('voice-f32')
    expect(voice.kv.positions).toBe(golden.kv.positions)
    expect(relativeL2(valuesOf(voice), valuesOf(golden))).toBeLessThan(5e-5)
  })
})

const disposable = (tts: PocketTts) => ({ tts, [Symbol.dispose]: () => tts.dispose() })

describe('voices', () => {
  let tts: PocketTts
  beforeAll(async () => {
    tts = await PocketTts.load(tinyFolder, { simd: fastest })
  })
  afterAll(() => tts.dispose())

  describe('refuses', () => {
    const refused = cases.filter(({ must }) => must === 'refuse')
    test.each(refused)('$file: $why', async ({ file }) => {
      await refusal(tts.loadVoice(bytesOf(file)), 'invalid-voice')
    })

    test('a voice of another model, naming both sides', async () => {
      const load = (file: string) => tts.loadVoice(bytesOf(`voices/refuse/${file}.safetensors`))
      await refusal(load('layers-4'), 'invalid-voice', '4 layers', 'tiny-2026-04 has 3')
      await refusal(load('heads'), 'invalid-voice', '4 heads × 64', '2 heads × 64', 'tiny-2026-04')
      await refusal(load('head-dim'), 'invalid-voice', '2 heads × 32', '2 heads × 64')
      const named = rewrite(small, (_, tensor) => tensor, { 'pocket.model': 'english_2026-01' })
      await refusal(tts.loadVoice(named), 'invalid-voice', 'english_2026-01', 'tiny-2026-04')
    })

    test('a prompt of another width, an empty one, and one with NaN', async () => {
      const prompt = (shape: number[], fill = 0) => {
        const data = new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(fill)
        return tts.loadVoice(writeSafeTensors({ audio_prompt: { dtype: 'F32', shape, data } }))
      }
      await refusal(prompt([1, 4, 1024]), 'invalid-voice', '[1, 4, 1024]', '[1, positions, 128]')
      await refusal(prompt([1, 0, 128]), 'invalid-voice')
      await refusal(prompt([4, 128]), 'invalid-voice')
      await refusal(prompt([1, 4, 128], Number.NaN), 'invalid-voice', 'NaN')
    })

    test('a prompt that would take long to hear and could not speak', async () => {
      const shape = [1, 4097, 128]
      const data = new Float32Array(4097 * 128)
      const file = writeSafeTensors({ audio_prompt: { dtype: 'F32', shape, data } })
      using hearing = vi.spyOn(tts.flowLm, 'promptRows')
      await refusal(tts.loadVoice(file), 'invalid-voice', '4097 positions', '4096')
      expect(hearing).not.toHaveBeenCalled()
    })

    test.skipIf(process.platform === 'win32')('a device, which may have no end', async () => {
      await refusal(tts.loadVoice('/dev/zero'), 'not-found', 'no regular file')
    })

    test('options that are none', async () => {
      const refuse = (options: unknown, words: string) =>
        refusal(tts.loadVoice('voice-3', options as LoadVoiceOptions), 'invalid-option', words)
      await refuse(null, 'options is null')
      await refuse({ signal: 5 }, 'signal is 5')
      await refuse({ onProgress: 'loud' }, 'onProgress is loud')
    })

    test('a file whose name says the same model and whose hash another', async () => {
      const metadata = { 'pocket.model': 'tiny-2026-04', 'pocket.sha256': '0'.repeat(64) }
      const stale = rewrite(small, (_, tensor) => tensor, metadata)
      await refusal(tts.loadVoice(stale), 'invalid-voice', 'other weights', tts.config.sha256.slice(0, 12))
    })

    test('law: no damage makes anything else of a voice file than a voice or a refusal', async () => {
      const damage = fc.record({ at: fc.nat(small.length - 1), byte: fc.nat(255), cut: fc.nat(small.length) })
      await fc.assert(
        fc.asyncProperty(damage, fc.boolean(), async ({ at, byte, cut }, truncate) => {
          const file = small.slice(0, truncate ? cut : small.length)
          // Most bytes are values; aim half of the hits at the header.
          file[at % 2 === 0 ? at : at % 700] = byte
          await tts.loadVoice(file).then(
            ({ kv }) => expect(kv.layers).toHaveLength(3),
            (error) => expect(error).toMatchObject({ name: 'PocketTtsError', code: 'invalid-voice' }),
          )
        }),
        { numRuns: 300 },
      )
    })
  })

  test('that a model is still hearing when it is disposed of are refused, and freed after that', async () => {
    const model = await PocketTts.load(tinyFolder, { simd: fastest })
    const shape = [1, 40, 128]
    const file = writeSafeTensors({ audio_prompt: { dtype: 'F32', shape, data: new Float32Array(40 * 128) } })
    const voice = model.loadVoice(file)
    model.dispose()
    await refusal(voice, 'disposed')
  })

  test('are known by name, sorted, and read once', async () => {
    expect(tts.voices()).toContain('voice-f32')
    expect(tts.voices()).toEqual([...tts.voices()].sort())
    const [first, second] = await Promise.all([tts.loadVoice('voice-3'), tts.loadVoice('voice-3')])
    expect(second).toBe(first)
    expect(first.name).toBe('voice-3')
  })

  test('come from a path, a URL and bytes too', async () => {
    const url = new URL(`file://${tinyVoice}`)
    const all = [tinyVoice, url.href, url, readFixture('tiny/tiny-2026-04/voices/voice-f32.safetensors')]
    const named = await tts.loadVoice('voice-f32')
    for (const source of all) expect((await tts.loadVoice(source)).kv).toEqual(named.kv)
  })

  test('an unknown name lists the known ones; a missing file says where it looked', async () => {
    await refusal(tts.loadVoice('alba'), 'unknown-voice', "'alba'", 'voice-3, voice-bf16', 'tiny-2026-04')
    await refusal(tts.loadVoice('__proto__'), 'unknown-voice')
    await refusal(tts.loadVoice('./nobody.safetensors'), 'not-found', 'nobody.safetensors')
    await refusal(tts.loadVoice('hf://kyutai/tts-voices'), 'invalid-option', 'not a file in it')
    await refusal(tts.loadVoice(''), 'invalid-option')
    await refusal(tts.loadVoice(3 as never), 'invalid-option')
  })

  test('a failed read is forgotten', async () => {
    const voices = { broken: new Blob([new Uint8Array(5)]) }
    using model = disposable(await PocketTts.load({ ...tinyParts, voices }, { simd: fastest }))
    const attempts = [model.tts.loadVoice('broken'), model.tts.loadVoice('broken')]
    for (const attempt of attempts) await refusal(attempt, 'invalid-voice', "'broken'")
    expect(model.tts.defaultVoice).toBe('broken')
  })

  test('a Voice of another model, or none at all, is refused before any work', async () => {
    const voice = await tts.loadVoice('voice-3')
    const [first] = voice.kv.layers
    const speak = (changed: unknown) => tts.speak('Hello.', { voice: changed as Voice })
    await refusal(speak({ ...voice, modelId: 'english' }), 'invalid-voice', 'english', 'tiny-2026-04')
    await refusal(speak({ kv: { ...voice.kv, layers: [first] } }), 'invalid-voice', '1 layers', '3 layers')
    await refusal(speak({ kv: { ...voice.kv, positions: 4 } }), 'invalid-voice', '4 positions')
    await refusal(speak({ kv: {} }), 'invalid-voice')
    await refusal(speak({ kv: { positions: 1, layers: [{}] } }), 'invalid-voice')
  })
})

describe('exported voices', () => {
  let tts: PocketTts
  beforeAll(async () => {
    tts = await PocketTts.load(tinyFolder, { simd: fastest })
  })
  afterAll(() => tts.dispose())

  test('are of the newest layout, cut to the positions in use, and name the model', async () => {
    const file = SafeTensors.fromBytes(tts.exportVoice(await tts.loadVoice('voice-old-tail')))
    expect(file.metadata).toEqual({ 'pocket.model': 'tiny-2026-04', 'pocket.sha256': tts.config.sha256 })
    expect(file.names().sort()).toEqual(
      [0, 1, 2].flatMap((n) =>
        ['cache', 'offset'].map((name) => `transformer.layers.${n}.self_attn/${name}`),
      ),
    )
    const cache = 'transformer.layers.1.self_attn/cache'
    expect(file.info(cache)).toMatchObject({ dtype: 'F32', shape: [2, 1, 7, 2, 64] })
    expect(file.i64('transformer.layers.1.self_attn/offset')).toEqual(BigInt64Array.of(7n))
  })

  test('are what the reference writes', async () => {
    const golden = SafeTensors.fromBytes(readFixture('tiny/tiny-2026-04/voices/voice-f32.safetensors'))
    const exported = SafeTensors.fromBytes(tts.exportVoice(await tts.loadVoice('voice-f32')))
    for (const name of golden.names()) {
      expect(exported.info(name)).toEqual(golden.info(name))
      expect(exported.bytes(name)).toEqual(golden.bytes(name))
    }
  })

  test('law: load, export, load is bit for bit the same', async () => {
    const bits = fc.integer({ min: 0, max: 0xffffffff }).filter((word) => (word & 0x7f800000) !== 0x7f800000)
    const length = (positions: number) => 3 * 2 * positions * 2 * 64
    const anyVoice = fc
      .nat(4)
      .chain((positions) =>
        fc.tuple(
          fc.constant(positions),
          fc.array(bits, { minLength: length(positions), maxLength: length(positions) }),
        ),
      )
    await fc.assert(
      fc.asyncProperty(anyVoice, async ([positions, words]) => {
        const values = new Float32Array(Uint32Array.from(words).buffer)
        const part = positions * 2 * 64
        const cut = (index: number) => values.slice(index * part, (index + 1) * part)
        const layers = [0, 2, 4].map((index) => ({ k: cut(index), v: cut(index + 1) }))
        const voice: Voice = { kv: { positions, heads: 2, headDim: 64, layers } }
        const once = await tts.loadVoice(tts.exportVoice(voice))
        const { buffer } = Float32Array.from(valuesOf(once))
        expect(new Uint32Array(buffer)).toEqual(Uint32Array.from(words))
        expect(tts.exportVoice(once)).toEqual(tts.exportVoice(voice))
        expect(once.modelId).toBe('tiny-2026-04')
      }),
      { numRuns: 20 },
    )
  })

  test('fit the same weights under another name, and no other weights under the same name', async () => {
    const file = tts.exportVoice(await tts.loadVoice('voice-3'))
    using renamed = disposable(await PocketTts.load({ ...tinyParts, name: 'mine' }, { simd: fastest }))
    expect(await renamed.tts.loadVoice(file)).toMatchObject({ modelId: 'mine' })
    const model = rewrite(tinyParts.model, (name, tensor) =>
      name === 'flow_lm.out_norm.bias' ? { ...tensor, data: new Uint8Array(tensor.data.byteLength) } : tensor,
    )
    using retrained = disposable(await PocketTts.load({ ...tinyParts, model }, { simd: fastest }))
    await refusal(retrained.tts.loadVoice(file), 'invalid-voice', 'other weights')
  })

  test('of another model are refused', async () => {
    const voice = await tts.loadVoice('voice-3')
    await refusal(() => tts.exportVoice({ ...voice, modelId: 'english' }), 'invalid-voice', 'english')
  })
})
