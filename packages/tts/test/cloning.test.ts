import { SafeTensors } from '@pocket/safetensors'
import { encodeWav, PocketTts } from '@pocket/tts'
import { fixturePath, readFixture, readGoldens, relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { refusal } from './support/errors.ts'
import { describeLevels, fastest } from './support/levels.ts'
import { rewrite, tinyParts, ungated } from './support/tiny.ts'
import { valuesOf } from './support/voice-values.ts'

const wave = readGoldens('tiny/wave.safetensors').get('wave')?.data ?? new Float32Array(0)
// What the goldens were cloned from.
const recording = wave.subarray(0, 45000)

describeLevels('cloning', (simd) => {
  test.each(['tiny-2026-04', 'tiny-2026-01', 'tiny-24l'])("%s: the reference's voice", async (model) => {
    const tts = await PocketTts.load(fixturePath(`tiny/${model}`), { simd })
    expect(tts.canCloneVoices).toBe(true)
    const voice = await tts.cloneVoice(recording, { name: 'me' })
    const golden = await tts.loadVoice('voice-f32')
    expect(voice).toMatchObject({ name: 'me', modelId: model, kv: { positions: golden.kv.positions } })
    expect(relativeL2(valuesOf(voice), valuesOf(golden))).toBeLessThan(5e-5)
    tts.dispose()
  })
})

describe('cloning', () => {
  let tts: PocketTts
  beforeAll(async () => {
    tts = await PocketTts.load(tinyParts, { simd: fastest })
  })
  afterAll(() => tts.dispose())

  test('takes the bytes of a WAV file too', async () => {
    const samples = recording.subarray(0, 4000)
    // encodeWav scales by 32767 and decodeWav by 32768: samples made of the latter come back.
    const sixteenBit = samples.map((sample) => Math.trunc(Math.fround(sample * 32767)) / 32768)
    const fromFile = await tts.cloneVoice(encodeWav(samples))
    expect(valuesOf(fromFile)).toEqual(valuesOf(await tts.cloneVoice(sixteenBit)))
  })

  test('adds zeros up to whole frames, and takes the beginning of what is too long', async () => {
    const frame = recording.subarray(0, 1920)
    const padded = new Float32Array(1920)
    padded.set(frame.subarray(0, 1000))
    const short = await tts.cloneVoice(frame.subarray(0, 1000))
    expect(short.kv.positions).toBe(2)
    expect(short).toEqual(await tts.cloneVoice(padded))
    const cut = await tts.cloneVoice(recording, { maxSeconds: 0.16 })
    expect(cut).toEqual(await tts.cloneVoice(recording.subarray(0, 3840)))
  })

  test('without bos_before_voice where the config says so', async () => {
    const config = { flow_lm: { insert_bos_before_voice: false } }
    const model = await PocketTts.load({ ...tinyParts, config }, { simd: fastest })
    expect((await model.cloneVoice(recording.subarray(0, 1920))).kv.positions).toBe(1)
    expect(model.config.insertBosBeforeVoice).toBe(false)
    model.dispose()
  })

  test('makes a voice that speaks, is exported and comes back', async () => {
    const voice = await tts.cloneVoice(recording)
    const again = await tts.loadVoice(tts.exportVoice(voice))
    expect(valuesOf(again)).toEqual(valuesOf(voice))
    const options = { eosThreshold: -1000 }
    const spoken = await tts.generate('Yes.', { ...options, voice })
    expect(await tts.generate('Yes.', { ...options, voice: again })).toEqual(spoken)
  })

  test('refuses what is no recording', async () => {
    await refusal(tts.cloneVoice(new Float32Array(0)), 'invalid-audio', 'empty')
    await refusal(tts.cloneVoice(Float32Array.of(0, Number.NaN)), 'invalid-audio', 'sample 1', 'NaN')
    await refusal(tts.cloneVoice([0, 0] as never), 'invalid-audio', 'Float32Array')
    await refusal(tts.cloneVoice(new Uint8Array(100)), 'invalid-audio', 'WAV')
    await refusal(tts.cloneVoice(recording, { maxSeconds: 0 }), 'invalid-option', 'maxSeconds is 0')
    const tight = await PocketTts.load(tinyParts, { simd: fastest, maxPositions: 20 })
    await refusal(tight.cloneVoice(recording), 'too-long', '24 frames', '20 positions')
    tight.dispose()
  })

  test('stops when asked', async () => {
    const reason = new Error('never mind')
    await expect(tts.cloneVoice(recording, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    setTimeout(() => controller.abort(reason))
    await expect(tts.cloneVoice(wave, { signal: controller.signal })).rejects.toBe(reason)
  })

  test('stops while the model hears the recording', async () => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const { flowLm } = tts
    const hear = flowLm.promptRows.bind(flowLm)
    const heard = vi.spyOn(flowLm, 'promptRows').mockImplementation((...args) => {
      controller.abort(reason)
      return hear(...args)
    })
    const long = new Float32Array(24_000 * 20).fill(0.1)
    await expect(tts.cloneVoice(long, { signal: controller.signal })).rejects.toBe(reason)
    expect(heard).toHaveBeenCalledTimes(1)
    heard.mockRestore()
  })
})

describe('weights without voice cloning', () => {
  test('a blank encoder: everything else works, and the refusal names the page that grants the rest', async () => {
    const model = ungated(tinyParts.model)
    expect(SafeTensors.fromBytes(model).bytes('mimi.encoder.model.0.conv.weight').some(Boolean)).toBe(false)
    const voices = { golden: readFixture('tiny/tiny-2026-04/voices/voice-f32.safetensors') }
    const tts = await PocketTts.load({ ...tinyParts, model, voices }, { simd: fastest })
    expect([tts.canCloneVoices, tts.codec.canEncode]).toEqual([false, false])
    await refusal(
      tts.cloneVoice(recording),
      'unsupported',
      'huggingface.co/kyutai/pocket-tts',
      'tiny-2026-04',
    )
    expect(await tts.generate('Yes.', { eosThreshold: -1000 })).toHaveLength(5 * 1920)
    // The language models are the same, and so is what a voice file knows of them.
    const gated = await PocketTts.load(tinyParts, { simd: fastest })
    expect(tts.config.sha256).toBe(gated.config.sha256)
    tts.dispose()
    gated.dispose()
  })

  test('no speaker projection', async () => {
    const model = rewrite(tinyParts.model, (name, tensor) =>
      name.endsWith('speaker_proj_weight') ? undefined : tensor,
    )
    const tts = await PocketTts.load({ ...tinyParts, model }, { simd: fastest })
    expect(tts.canCloneVoices).toBe(false)
    await refusal(tts.cloneVoice(recording), 'unsupported', 'speaker_proj_weight')
    tts.dispose()
  })
})
