import { type GenerateOptions, PocketTts } from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'
import { tinyFolder, tinyParts } from './support/tiny.ts'

let tts: PocketTts
beforeAll(async () => {
  tts = await PocketTts.load(tinyFolder, { simd: fastest })
})
afterAll(() => tts.dispose())

const voice = 'voice-3'

/** All three ways to speak refuse alike, and none does any work. */
const refuse = async (
  text: unknown,
  options: unknown,
  code: 'invalid-option' | 'empty-text' | 'unknown-voice' | 'unsupported' | 'too-long',
  ...words: string[]
) => {
  using createState = vi.spyOn(tts.flowLm, 'createState')
  const ways = [
    () => tts.generate(text as string, options as GenerateOptions),
    () => tts.speak(text as string, options as GenerateOptions),
    () => tts.stream(text as string, options as GenerateOptions).next(),
  ]
  for (const way of ways) await refusal(way, code, ...words)
  expect(createState).not.toHaveBeenCalled()
}

describe('an option out of range is named, with what was found and what is allowed', () => {
  test.each([
    [{ temperature: Number.NaN }, 'temperature is NaN'],
    [{ temperature: -0.1 }, 'temperature is -0.1'],
    [{ temperature: '0.3' }, 'temperature is 0.3; it must be a finite number'],
    [{ temperature: Symbol('warm') }, 'temperature is of type symbol'],
    [{ temperature: Number.POSITIVE_INFINITY }, 'temperature is Infinity'],
    [{ lsdSteps: 0 }, 'lsdSteps is 0; it must be a whole number from 1 to 1000'],
    [{ lsdSteps: 1.5 }, 'lsdSteps is 1.5'],
    [{ lsdSteps: 1001 }, 'lsdSteps is 1001'],
    [{ noiseClamp: 0 }, 'noiseClamp is 0'],
    [{ noiseClamp: Number.NaN }, 'noiseClamp is NaN'],
    [{ noiseClamp: Symbol('tight') }, 'noiseClamp is of type symbol'],
    [{ eosThreshold: Number.NaN }, 'eosThreshold is NaN'],
    [{ eosThreshold: '-4' }, 'eosThreshold is -4; it must be a number'],
    [{ framesAfterEos: -1 }, 'framesAfterEos is -1; it must be a whole number of at least 0'],
    [{ framesAfterEos: 0.5 }, 'framesAfterEos is 0.5'],
    [{ maxTokensPerChunk: -1 }, 'maxTokensPerChunk is -1'],
    [{ seed: -1 }, 'seed is -1'],
    [{ seed: 0.5 }, 'seed is 0.5'],
    [{ seed: 1n << 64n }, 'seed is 18446744073709551616'],
    [{ voice: 3 }, 'voice is 3'],
    [{ voice: null }, 'voice is null'],
    [{ noise: {} }, 'noise is of type object; it must be a NoiseSource'],
    [{ signal: new AbortController() }, 'signal is of type object; it must be an AbortSignal'],
    [{ signal: { aborted: false } }, 'signal is of type object; it must be an AbortSignal'],
    [{ onProgress: 'loud' }, 'onProgress is loud; it must be a function'],
    [{ onWarning: 1 }, 'onWarning is 1'],
    [{ textProfile: 'natural' }, "'natural' is not available yet"],
    [{ textProfile: 'poetic' }, 'poetic'],
  ])('%o', async (options, words) => {
    await refuse('Hello.', { voice, ...options }, 'invalid-option', words)
  })

  test('so is a text that is none', async () => {
    await refuse(3, { voice }, 'invalid-option', 'text is of type number')
    await refuse(undefined, { voice }, 'invalid-option', 'text')
    await refuse('Hello.', null, 'invalid-option', 'options is null')
  })
})

test('a text that holds nothing to say', async () => {
  for (const text of ['', '   ', '\n\t\r\n', '▁']) await refuse(text, { voice }, 'empty-text')
})

test('a voice that is not there', async () => {
  await refuse('Hello.', { voice: 'nobody' }, 'unknown-voice', "'nobody'", 'voice-3')
  const bare = await PocketTts.load(tinyParts, { simd: fastest })
  await refusal(bare.speak('Hello.'), 'unknown-voice', 'no voice was given', 'tiny-2026-04')
  bare.dispose()
})

test('a clause too long for the positions there are says what would help', async () => {
  const model = await PocketTts.load(tinyFolder, { simd: fastest, maxPositions: 300 })
  const clause = 'and so on '.repeat(30)
  await refusal(model.speak(`Fine. ${clause}`, { voice }), 'too-long', 'maxPositions', '300', 'punctuation')
  await expect(model.speak('Fine.', { voice, eosThreshold: -1000 })).resolves.toBeTruthy()
  model.dispose()
})

test('values at the edge are allowed', async () => {
  const edge: GenerateOptions[] = [
    { temperature: 0 },
    { framesAfterEos: 0 },
    { maxTokensPerChunk: 0 },
    { seed: (1n << 64n) - 1n },
    { seed: 0 },
    { lsdSteps: 4, noiseClamp: 0.5 },
    { eosThreshold: Number.NEGATIVE_INFINITY },
  ]
  for (const options of edge) {
    const settings = { voice, eosThreshold: -1000, framesAfterEos: 2, ...options }
    const { chunks } = await tts.speak('Yes.', settings)
    expect(chunks[0]).toMatchObject({ eosStep: 0, frames: settings.framesAfterEos })
  }
})

test('an option that is undefined is not given', async () => {
  const none = {
    temperature: undefined,
    seed: undefined,
    framesAfterEos: undefined,
    voice: undefined,
    noise: undefined,
  }
  const options = { voice, eosThreshold: -1000 }
  expect(await tts.generate('Yes.', { ...none, ...options })).toEqual(await tts.generate('Yes.', options))
})

describe('what decides', () => {
  const framesAfterEos = async (model: PocketTts, text: string, options: GenerateOptions = {}) => {
    const { chunks } = await model.speak(text, { voice, eosThreshold: -1000, ...options })
    return chunks.map((chunk) => chunk.framesAfterEos)
  }

  test('framesAfterEos: the caller, then the model, then the length of the text', async () => {
    const config = { model_recommended_frames_after_eos: 0 }
    const voices = { [voice]: `${tinyFolder}/voices/voice-3.safetensors` }
    const model = await PocketTts.load({ ...tinyParts, config, voices }, { simd: fastest })
    expect(await framesAfterEos(model, 'Yes.', { framesAfterEos: 1 })).toEqual([1])
    expect(await framesAfterEos(model, 'Yes.')).toEqual([0])
    expect(await framesAfterEos(tts, 'Yes.')).toEqual([5])
    expect(await framesAfterEos(tts, 'One two three four five six.')).toEqual([3])
    model.dispose()
  })

  test('temperature: the caller, then the model', async () => {
    const options = { voice, eosThreshold: -1000 }
    const voices = { [voice]: `${tinyFolder}/voices/voice-3.safetensors` }
    const model = await PocketTts.load(
      { ...tinyParts, config: { default_temperature: 0.9 }, voices },
      { simd: fastest },
    )
    expect(model.config.defaultTemperature).toBe(0.9)
    const warm = await model.generate('Yes.', options)
    expect(warm).toEqual(await tts.generate('Yes.', { ...options, temperature: 0.9 }))
    expect(warm).not.toEqual(await tts.generate('Yes.', options))
    model.dispose()
  })
})

test('a clause that cannot be split is spoken, with a warning that shows where', async () => {
  const clause = 'one two three four five six seven eight nine ten eleven twelve'
  const text = `Yes. ${clause}`
  const { warnings } = await tts.speak(text, { voice, eosThreshold: -1000, maxTokensPerChunk: 10 })
  expect(warnings).toMatchObject([{ code: 'long-chunk' }])
  const { start = 0, end = 0 } = warnings[0]?.span ?? {}
  expect(text.slice(start, end)).toBe(clause)
})

test('warnings reach a callback too', async () => {
  const seen: string[] = []
  const onWarning = ({ code }: { code: string }) => seen.push(code)
  for await (const _ of tts.stream('Yes.', { voice, eosThreshold: 1000, onWarning }));
  expect(seen).toEqual(['max-frames'])
})
