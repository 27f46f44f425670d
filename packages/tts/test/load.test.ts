import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SafeTensors } from '@pocket/safetensors'
import { openFile } from '@pocket/safetensors/node'
import { type LoadProgress, type ModelSource, PocketTts } from '@pocket/tts'
import { fixturePath, readFixture } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from './support/errors.ts'
import { serveFiles } from './support/file-server.ts'
import { fastest } from './support/levels.ts'
import { rewrite, tinyFolder, tinyParts } from './support/tiny.ts'

const tiny = (name: string): Uint8Array => readFixture(`tiny/tiny-2026-04/${name}`)
const files = {
  'model/config.yaml': tiny('config.yaml'),
  'model/model.safetensors': tiny('model.safetensors'),
  'model/tokenizer.model': tiny('tokenizer.model'),
  'model/voices/voice-3.safetensors': tiny('voices/voice-3.safetensors'),
}

/** Loads, and says a word: a model that is really there. */
const speaks = async (source: ModelSource, voice: string = tinyVoiceUrl): Promise<PocketTts> => {
  const tts = await PocketTts.load(source, { simd: fastest })
  const pcm = await tts.generate('Yes.', { voice, eosThreshold: -1000, framesAfterEos: 1 })
  expect(pcm).toHaveLength(1920)
  tts.dispose()
  return tts
}

const tinyVoiceUrl = pathToFileURL(fixturePath('tiny/tiny-2026-04/voices/voice-3.safetensors')).href

describe('a model comes from', () => {
  test('a folder, by path or URL, with or without the last slash', async () => {
    const url = pathToFileURL(tinyFolder)
    for (const source of [tinyFolder, `${tinyFolder}/`, url, url.href]) {
      const tts = await speaks(source)
      expect(tts.config.modelId).toBe('tiny-2026-04')
    }
  })

  test('a config file, whose paths are relative to it', async () => {
    const tts = await speaks(
      join(fixturePath('tiny/tiny-24l'), 'config.yaml'),
      fixturePath('tiny/tiny-24l/voices/voice-f32.safetensors'),
    )
    expect(tts.config).toMatchObject({
      modelId: 'tiny-24l',
      removeSemicolons: true,
      modelRecommendedFramesAfterEos: 8,
      defaultTemperature: 0.3,
    })
  })

  test('its parts: paths, URLs, bytes, Blobs, open readers', async () => {
    const path = (name: string): string => join(tinyFolder, name)
    const { model, tokenizer } = tinyParts
    await speaks({ model, tokenizer })
    await speaks({ model: path('model.safetensors'), tokenizer: path('tokenizer.model') })
    await speaks({
      model: pathToFileURL(path('model.safetensors')),
      tokenizer: new Blob([tokenizer as BlobPart]),
    })
    await speaks({
      model: new Blob([model as BlobPart]),
      tokenizer: pathToFileURL(path('tokenizer.model')).href,
    })
    await speaks({ model: SafeTensors.fromBytes(model), tokenizer })
    await using reader = await openFile(path('model.safetensors'))
    await speaks({ model: reader, tokenizer, config: path('config.yaml') })
    // The reader is still the caller's.
    expect((await reader.f32('flow_lm.emb_std')).shape).toEqual([32])
  })

  test('parts with voices: the default is named, or the first by name', async () => {
    const voices = { b: tiny('voices/voice-3.safetensors'), a: tinyVoiceUrl }
    const first = await PocketTts.load({ ...tinyParts, voices }, { simd: fastest })
    expect([first.voices(), first.defaultVoice]).toEqual([['a', 'b'], 'a'])
    first.dispose()
    const named = await PocketTts.load({ ...tinyParts, voices, defaultVoice: 'b' }, { simd: fastest })
    expect(named.defaultVoice).toBe('b')
    named.dispose()
    await refusal(
      PocketTts.load({ ...tinyParts, voices, defaultVoice: 'c' }),
      'invalid-option',
      "'c'",
      'b, a',
    )
  })

  test('parts without a name are named by their hash', async () => {
    const { model, tokenizer } = tinyParts
    const tts = await speaks({ model, tokenizer })
    expect(tts.config.modelId).toMatch(/^sha256:[0-9a-f]{12}$/)
    expect(tts.config.sha256).toHaveLength(64)
  })

  test('a server', async () => {
    await using server = await serveFiles(files)
    const tts = await speaks(`${server.url}model`, 'voice-3')
    expect(tts.config.modelId).toBe('model')
    expect(tts.voices()).toEqual([])
    expect(server.asked).toEqual([
      'model/config.yaml',
      'model/tokenizer.model',
      'model/model.safetensors',
      'model/voices/voice-3.safetensors',
    ])
  })

  test('a server without config.yaml, even one that answers everything with its page', async () => {
    const { 'model/config.yaml': _, ...bare } = files
    await using plain = await serveFiles(bare)
    await speaks(`${plain.url}model/`, 'voice-3')
    await using singlePage = await serveFiles(bare, '<!doctype html>')
    const tts = await speaks(`${singlePage.url}model/`, 'voice-3')
    await refusal(PocketTts.load(`${singlePage.url}nothing/`), 'not-found', 'web page')
    expect(tts.defaultVoice).toBeUndefined()
  })
})

describe('folders', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'a model #1 100% '))
  })
  afterAll(() => rm(folder, { recursive: true }))

  const write = (name: string, bytes: Uint8Array | string) => writeFile(join(folder, name), bytes)

  test('without config.yaml hold model.safetensors and tokenizer.model; voices in either place', async () => {
    await refusal(PocketTts.load(join(folder, 'nowhere')), 'not-found', 'there is no folder')
    await refusal(PocketTts.load(folder), 'not-found', 'neither config.yaml nor model.safetensors', 'nothing')
    await write('model.safetensors', tinyParts.model)
    await refusal(PocketTts.load(folder), 'not-found', 'tokenizer.model', 'model.safetensors')
    await write('tokenizer.model', tinyParts.tokenizer)
    await mkdir(join(folder, 'embeddings'))
    await mkdir(join(folder, 'voices'))
    await cp(
      fixturePath('tiny/tiny-2026-04/voices/voice-3.safetensors'),
      join(folder, 'embeddings/ann.safetensors'),
    )
    await cp(
      fixturePath('tiny/tiny-2026-04/voices/voice-3.safetensors'),
      join(folder, 'voices/bob #2.safetensors'),
    )
    await write('voices/readme.txt', 'not a voice')
    const tts = await speaks(folder, 'bob #2')
    expect(tts.voices()).toEqual(['ann', 'bob #2'])
    expect(tts.defaultVoice).toBe('ann')
  })

  test('weights that cannot be had give way to those without voice cloning', async () => {
    const paths = 'weights_path: gone.safetensors\nweights_path_without_voice_cloning: ./model.safetensors\n'
    await write('english.yaml', `${paths}flow_lm: { lookup_table: { tokenizer_path: tokenizer.model } }\n`)
    const tts = await speaks(join(folder, 'english.yaml'), 'ann')
    expect(tts.config.modelId).toBe('english')
  })

  test('a file for each network needs both', async () => {
    await write('one.yaml', 'flow_lm: { weights_path: a.safetensors }\n')
    const missing = 'flow_lm.weights_path but not mimi.weights_path'
    await refusal(PocketTts.load(join(folder, 'one.yaml')), 'invalid-model', missing)
    await write(
      'two.yaml',
      'flow_lm: { weights_path: a.safetensors }\nmimi: { weights_path: b.safetensors }\n',
    )
    await refusal(PocketTts.load(join(folder, 'two.yaml')), 'not-found', 'a.safetensors')
  })

  test('a damaged file is refused by name', async () => {
    await write('damaged.safetensors', tinyParts.model.subarray(0, 1000))
    await write('damaged.yaml', 'weights_path: damaged.safetensors\n')
    await refusal(PocketTts.load(join(folder, 'damaged.yaml')), 'invalid-model', 'damaged.safetensors')
    await write('text.yaml', 'weights_path: readme.md\n')
    await write('readme.md', '# A model\n')
    await refusal(PocketTts.load(join(folder, 'text.yaml')), 'invalid-model', 'readme.md')
  })
})

describe('before anything is loaded', () => {
  test.each([
    [{ precision: 'int4' }, 'invalid-option', 'precision is int4; it must be one of stored, int8, bf16, f32'],
    [{ backend: 'tpu' }, 'invalid-option', 'backend is tpu; it must be one of auto, cpu'],
    [{ codecPrecision: 'int16', backend: 'gpu' }, 'invalid-option', 'use backend cpu'],
    [{ codecPrecision: 'int8' }, 'invalid-option', 'codecPrecision is int8; it must be one of stored, int16'],
    [{ simd: 'avx' }, 'invalid-option', 'simd is avx'],
    [{ maxPositions: 0 }, 'invalid-option', 'maxPositions is 0'],
    [{ lanes: 1.5 }, 'invalid-option', 'lanes is 1.5'],
    [{ gpuTuning: 'quick' }, 'invalid-option', 'gpuTuning is quick'],
    [{ gpuTuning: { rows: 4 } }, 'invalid-option', 'gpuTuning is of type object'],
    [{ threads: 1.5 }, 'invalid-option', 'threads is 1.5'],
    [{ threads: Symbol('two') }, 'invalid-option', 'threads is of type symbol'],
    [{ signal: {} }, 'invalid-option', 'signal is of type object; it must be an AbortSignal'],
    [{ onProgress: 5 }, 'invalid-option', 'onProgress is 5; it must be a function'],
    [null, 'invalid-option', 'options is null'],
  ] as const)('%o is refused', async (options, code, words) => {
    await refusal(PocketTts.load('nowhere', options as never), code, words)
  })

  test('so is a source that is none', async () => {
    for (const source of [undefined, null, 3, {}, { model: new Uint8Array(3) }]) {
      await refusal(PocketTts.load(source as never), 'invalid-option', "'model' and 'tokenizer'")
    }
  })

  test('and a place that holds a single file', async () => {
    for (const place of ['data:text/yaml,a', 'data:text/yaml,a.yaml', 'blob:5']) {
      await refusal(PocketTts.load(place), 'invalid-option', '{ model, tokenizer }')
    }
  })

  test('and a tokenizer of another size', async () => {
    const tokenizer = readFixture('tokenizer/sp4000.model')
    await refusal(
      PocketTts.load({ ...tinyParts, tokenizer }),
      'invalid-model',
      '4000 pieces',
      '1001 rows',
      'embed.weight',
    )
    await refusal(
      PocketTts.load({ ...tinyParts, tokenizer: new Uint8Array(9) }),
      'invalid-model',
      'tokenizer',
    )
  })

  test('weights that lack a tensor say which', async () => {
    const without = (lost: string) =>
      rewrite(tinyParts.model, (name, tensor) => (name === lost ? undefined : tensor))
    for (const lost of ['flow_lm.out_eos.bias', 'mimi.upsample.convtr.convtr.weight']) {
      const loading = PocketTts.load({ ...tinyParts, model: without(lost) }, { simd: fastest })
      await refusal(loading, 'invalid-model', lost.split('.').slice(1).join('.'))
    }
  })
})

describe('progress', () => {
  test('tells bytes of both networks, and of a download', async () => {
    await using server = await serveFiles(files)
    const seen: LoadProgress[] = []
    const tts = await PocketTts.load(`${server.url}model`, {
      simd: fastest,
      onProgress: (each) => seen.push(each),
    })
    tts.dispose()
    expect([...new Set(seen.map(({ stage }) => stage))]).toEqual(['download', 'language-model', 'codec'])
    for (const stage of ['download', 'language-model', 'codec']) {
      const steps = seen.filter((each) => each.stage === stage)
      const loaded = steps.map(({ loadedBytes }) => loadedBytes)
      expect(loaded).toEqual(loaded.toSorted((a, b) => a - b))
      expect(steps.at(-1)?.loadedBytes).toBe(steps[0]?.totalBytes)
    }
  })

  test('an abort stops at once, with its reason', async () => {
    const reason = new Error('no more')
    const aborted = AbortSignal.abort(reason)
    await expect(PocketTts.load(tinyFolder, { signal: aborted })).rejects.toBe(reason)
    for (const stage of ['download', 'language-model', 'codec']) {
      await using server = await serveFiles(files)
      const controller = new AbortController()
      const onProgress = (progress: LoadProgress) => {
        if (progress.stage === stage) controller.abort(reason)
      }
      const loading = PocketTts.load(`${server.url}model`, {
        simd: fastest,
        signal: controller.signal,
        onProgress,
      })
      await expect(loading).rejects.toBe(reason)
    }
  })

  test('a download that never ends is let go', async () => {
    await using server = await serveFiles({
      ...files,
      'model/model.safetensors': (_request, response) => {
        response.writeHead(200)
        response.write(tinyParts.model.subarray(0, 1000))
      },
    })
    const signal = AbortSignal.timeout(100)
    const error = await PocketTts.load(`${server.url}model`, { signal }).catch((caught) => caught)
    expect(error).toBe(signal.reason)
  })

  test('a download that breaks is an error, not a hang', async () => {
    await using server = await serveFiles({
      ...files,
      'model/model.safetensors': (_request, response) => {
        response.writeHead(200, { 'content-length': 1e6 })
        response.write(tinyParts.model.subarray(0, 1000), () => response.destroy())
      },
    })
    await refusal(PocketTts.load(`${server.url}model`), 'not-found', 'cannot be fetched')
  })
})
