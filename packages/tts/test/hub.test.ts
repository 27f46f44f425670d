import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SafeTensors } from '@pocket/safetensors'
import {
  findCheckpoint,
  type HubOptions,
  type LoadOptions,
  type LoadProgress,
  openHub,
  PocketTts,
  parseHubLocation,
  predefinedVoices,
  publishedRepositories,
} from '@pocket/tts'
import { readFixture, writeTensorFile } from '@tooling/fixtures'
import { commit, corrupt, HubServer, type Misbehaviour, slowly, token } from '@tooling/fixtures/hub'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'
import { ungated } from './support/tiny.ts'

const fixture = (name: string): Uint8Array => readFixture(`tiny/${name}`)
const model = fixture('tiny-2026-04/model.safetensors')

let server: HubServer
let cacheDir: string
let hub: HubOptions
beforeEach(async () => {
  server = await HubServer.start()
  cacheDir = await mkdtemp(join(tmpdir(), 'pocket-models-'))
  hub = { endpoint: server.endpoint, cacheDir, token: false, offline: false }
})
afterEach(async () => {
  await server.stop()
  await rm(cacheDir, { recursive: true })
})

const load = (source: string, options: LoadOptions = {}): Promise<PocketTts> =>
  PocketTts.load(source, { simd: fastest, hub, ...options })

const expectSpeech = async (tts: PocketTts, voice?: string): Promise<void> => {
  const pcm = await tts.generate('Yes.', { voice, eosThreshold: -1000, framesAfterEos: 1 })
  expect(pcm).toHaveLength(1920)
  tts.dispose()
}

/** Puts a fixture's model into a repository. */
const publish = (repository: string, name: string, folder = ''): void => {
  for (const file of ['config.yaml', 'model.safetensors', 'tokenizer.model']) {
    const path = folder ? `${folder}/${file}` : file
    server.add(repository, path, fixture(`${name}/${file}`), file === 'model.safetensors')
  }
}

describe('a model on the hub', () => {
  test.each(['tiny-2026-01', 'tiny-2026-04', 'tiny-24l'])('%s loads by its repository', async (name) => {
    publish('someone/model', name)
    server.add('someone/model', 'voices/ann.safetensors', fixture(`${name}/voices/voice-f32.safetensors`))
    const tts = await load('hf://someone/model')
    expect(tts.config.modelId).toBe('model')
    expect(tts.warnings).toEqual([])
    expect(tts.voices()).toEqual([])
    await expectSpeech(tts, 'ann')
  })

  test('loads by its config file, by a link, and from a folder, in a revision', async () => {
    publish('someone/models', 'tiny-2026-04', 'a/b')
    server.add(
      'someone/models',
      'a/b/voices/ann.safetensors',
      fixture('tiny-2026-04/voices/voice-3.safetensors'),
    )
    for (const source of [
      `hf://someone/models/a/b/config.yaml@${commit}`,
      `hf://someone/models/a/b@${commit}`,
      `https://huggingface.co/someone/models/blob/${commit}/a/b/config.yaml`,
    ]) {
      const tts = await load(source)
      expect(tts.config.modelId).toBe('b')
      await expectSpeech(tts, 'ann')
    }
    expect(server.bodies().length).toBe(4)
  })

  test('is fetched once, and then loads offline', async () => {
    publish('someone/model', 'tiny-2026-04')
    server.add('someone/model', 'voices/ann.safetensors', fixture('tiny-2026-04/voices/voice-3.safetensors'))
    await expectSpeech(await load(`hf://someone/model@${commit}`), 'ann')
    const before = server.seen.length
    const offline = await load(`hf://someone/model@${commit}`, { hub: { ...hub, offline: true } })
    await refusal(offline.loadVoice('bob'), 'offline', 'bob.safetensors')
    await expectSpeech(offline, 'ann')
    expect(server.seen.length).toBe(before)
  })

  test('reports what comes, by file, bytes and rate', async () => {
    publish('someone/model', 'tiny-2026-04')
    const heard: LoadProgress[] = []
    const tts = await load('hf://someone/model', { onProgress: (progress) => heard.push(progress) })
    tts.dispose()
    const downloads = heard.filter(({ stage }) => stage === 'download')
    const files = new Set(downloads.map(({ file }) => file))
    expect([...files]).toEqual(
      ['config.yaml', 'tokenizer.model', 'model.safetensors'].map(
        (file) => `hf://someone/model/${file}@main`,
      ),
    )
    const last = downloads.filter(({ file }) => file?.includes('model.safetensors')).at(-1)
    expect(last).toMatchObject({ loadedBytes: model.length, totalBytes: model.length })
    expect(last?.bytesPerSecond).toBeGreaterThanOrEqual(0)
  })

  test('lends its voices to a model from elsewhere', async () => {
    publish('someone/model', 'tiny-2026-04')
    server.add('others/voices', 'ann.safetensors', fixture('tiny-2026-04/voices/voice-3.safetensors'))
    await expectSpeech(await load('hf://someone/model'), 'hf://others/voices/ann.safetensors@main')
  })

  test.each([
    ['hf://someone/model/config.yaml', 'not-found', 'config.yaml@main'],
    ['hf://someone', 'invalid-option', 'the repository is missing'],
    ['hf://someone/model/../x', 'invalid-option', "holds '..'"],
    ['https://huggingface.co/someone/model/resolve/main/%2e%2e/x', 'invalid-option', "holds '.' or '..'"],
  ] as const)('that is not there is refused: %s', async (source, code, words) => {
    await refusal(load(source), code, words)
  })

  test('may not lead its config out of the repository', async () => {
    server.add(
      'someone/model',
      'config.yaml',
      new TextEncoder().encode('weights_path: ../x.safetensors\n'),
      false,
    )
    await refusal(load('hf://someone/model'), 'invalid-option', 'leads out of the repository')
  })
})

describe('a voice on the hub', () => {
  const voice = fixture('tiny-2026-04/voices/voice-f32.safetensors')
  let tts: PocketTts
  beforeEach(async () => {
    publish('someone/model', 'tiny-2026-04')
    server.add('someone/model', 'voices/ann.safetensors', voice, false)
    tts = await load(`hf://someone/model@${commit}`)
  })
  afterEach(() => tts.dispose())

  /** Waits until the voice is on its way, slowly. */
  const untilAsked = async (): Promise<void> => {
    await vi.waitFor(() => expect(server.bodies().some(({ path }) => path.includes('voices/'))).toBe(true))
  }
  const neverEnding = (): void => {
    server.always = ({ response, bytes }) => {
      response.writeHead(200, { 'content-length': bytes.length })
      response.write(bytes.subarray(0, 1000))
    }
  }

  test('reports what comes', async () => {
    const heard: LoadProgress[] = []
    await tts.loadVoice('ann', { onProgress: (progress) => heard.push(progress) })
    expect(heard.at(-1)).toMatchObject({
      stage: 'download',
      file: `hf://someone/model/voices/ann.safetensors@${commit}`,
      loadedBytes: voice.length,
      totalBytes: voice.length,
    })
  })

  test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['loadVoice', (signal) => tts.loadVoice('ann', { signal })],
    ['generate', (signal) => tts.generate('Yes.', { voice: 'ann', signal })],
  ])('stops coming when %s is told to stop, and can be asked for again', async (_name, ask) => {
    neverEnding()
    const controller = new AbortController()
    const asking = ask(controller.signal)
    await untilAsked()
    const reason = new Error('no more')
    controller.abort(reason)
    await expect(asking).rejects.toBe(reason)
    server.always = undefined
    await expectSpeech(tts, 'ann')
  })

  test('goes on coming for whoever else wants it', async () => {
    server.always = slowly(20_000, 20)
    const controller = new AbortController()
    const leaving = tts.loadVoice('ann', { signal: controller.signal })
    const staying = tts.loadVoice('ann')
    await untilAsked()
    controller.abort(new Error('no more'))
    await expect(leaving).rejects.toThrow('no more')
    expect(await staying).toBe(await tts.loadVoice('ann'))
    expect(server.bodies().filter(({ path }) => path.includes('voices/'))).toHaveLength(1)
  })
})

describe('gated weights', () => {
  const open = ungated(model)
  beforeEach(() => {
    server.gate('owner/gated')
    server.add('owner/gated', 'model.safetensors', model)
    server.add('owner/open', 'model.safetensors', open)
    server.add('owner/open', 'tokenizer.model', fixture('tiny-2026-04/tokenizer.model'), false)
    const config = [
      'weights_path: hf://owner/gated/model.safetensors',
      'weights_path_without_voice_cloning: hf://owner/open/model.safetensors',
    ]
    server.add('owner/open', 'config.yaml', new TextEncoder().encode(config.join('\n')), false)
  })

  test('give way to those without voice cloning, and say who grants access', async () => {
    const tts = await load('hf://owner/open')
    expect(tts.canCloneVoices).toBe(false)
    expect(tts.warnings).toEqual([
      {
        code: 'no-voice-cloning',
        message: expect.stringMatching(/https:\/\/huggingface\.co\/owner\/gated: accept/),
      },
    ])
    await refusal(tts.cloneVoice(new Float32Array(1920)), 'unsupported', 'huggingface.co/kyutai/pocket-tts')
    tts.dispose()
  })

  test('are used with a token', async () => {
    const tts = await load('hf://owner/open', { hub: { ...hub, token } })
    expect(tts.canCloneVoices).toBe(true)
    expect(tts.warnings).toEqual([])
    tts.dispose()
  })

  test('are not replaced where they arrive damaged', async () => {
    const behave: Misbehaviour = (answer) => answer.behave()
    // The config, the tokenizer, the weights.
    server.misbehaviours.push(behave, behave, corrupt)
    await refusal(
      load('hf://owner/open', { hub: { ...hub, token } }),
      'checksum-mismatch',
      'hf://owner/gated/',
    )
  })
})

describe('a published checkpoint', () => {
  /** The small model of 24 layers, where the French one is. */
  const publishFrench = (): void => {
    const { weights, weightsWithoutVoiceCloning, tokenizer } = findCheckpoint('french_24l')
    const add = (place: string, file: Uint8Array): void => {
      const { owner, repo, path } = parseHubLocation(place)
      server.add(`${owner}/${repo}`, path, file)
    }
    const whole = fixture('tiny-24l/model.safetensors')
    server.gate('kyutai/pocket-tts')
    add(weights, whole)
    add(weightsWithoutVoiceCloning, ungated(whole))
    add(tokenizer, fixture('tiny-24l/tokenizer.model'))
    server.add(
      'kyutai/pocket-tts-without-voice-cloning',
      'languages/french_24l/embeddings/estelle.safetensors',
      fixture('tiny-24l/voices/voice-f32.safetensors'),
    )
  }

  test('loads by its id, with its flags, voices and default voice', async () => {
    publishFrench()
    const tts = await load('french_24l')
    expect(tts.config).toMatchObject({
      modelId: 'french_24l',
      removeSemicolons: true,
      modelRecommendedFramesAfterEos: 8,
      insertBosBeforeVoice: true,
      defaultTemperature: 0.3,
    })
    expect(tts.canCloneVoices).toBe(false)
    expect(tts.warnings.map(({ code }) => code)).toEqual(['no-voice-cloning'])
    expect(tts.voices()).toEqual(Object.keys(predefinedVoices).sort())
    expect(tts.defaultVoice).toBe('estelle')
    await refusal(tts.loadVoice('estele'), 'unknown-voice', 'estelle')
    await expectSpeech(tts)
    const report = await openHub(hub).report(publishedRepositories)
    expect(report.files).toBe(3)
  })

  test('is fetched once: whoever has no token is not refused again each time', async () => {
    publishFrench()
    await expectSpeech(await load('french_24l'))
    const asked = server.seen.length
    const again = await load('french_24l')
    expect(again.warnings).toEqual([
      {
        code: 'no-voice-cloning',
        message: expect.stringContaining('https://huggingface.co/kyutai/pocket-tts'),
      },
    ])
    await expectSpeech(again)
    expect(server.seen).toHaveLength(asked)
    const known = await load('french_24l', { hub: { ...hub, token } })
    expect([known.canCloneVoices, known.warnings]).toEqual([true, []])
    known.dispose()
  })

  test('is what its weights say: those of another depth are refused', async () => {
    const { weights, tokenizer } = findCheckpoint('german')
    for (const [place, file] of [
      [weights, model],
      [tokenizer, fixture('tiny-2026-04/tokenizer.model')],
    ] as const) {
      const { owner, repo, path } = parseHubLocation(place)
      server.add(`${owner}/${repo}`, path, file)
    }
    await refusal(
      load('german'),
      'invalid-model',
      'the checkpoint german says flow_lm.transformer.num_layers 6',
    )
  })

  test.each([
    ['french', "'french_24l'"],
    ['germn', 'did you mean german?'],
  ])('that does not exist is explained: %s', async (id, words) => {
    await refusal(load(id), 'unknown-model', words)
    expect(server.seen).toEqual([])
  })
})

describe('a checkpoint of two files', () => {
  test('speaks as the combined one does', async () => {
    const combined = SafeTensors.fromBytes(model)
    const part = (prefix: string, rename: (name: string) => string): Uint8Array =>
      writeTensorFile(
        combined
          .names()
          .filter((name) => name.startsWith(prefix))
          .map((name) => ({
            name: rename(name.slice(prefix.length)),
            ...combined.info(name),
            bytes: combined.bytes(name),
          })),
      )
    const flowLm = part('flow_lm.', (name) =>
      name
        .replace('conditioner.embed', 'condition_provider.conditioners.transcript_in_segment.embed')
        .replace('.self_attn.in_proj.weight', '.self_attn.in_proj_weight'),
    )
    const mimi = part('mimi.', (name) => `model.${name.replace(/conv\.(weight|bias)$/, 'conv.conv.$1')}`)
    await writeFile(join(cacheDir, 'flow.safetensors'), flowLm)
    server.add('someone/codec', 'mimi.safetensors', mimi)
    const config = [
      'flow_lm: { weights_path: flow.safetensors, lookup_table: { tokenizer_path: tokenizer.model } }',
      'mimi: { weights_path: hf://someone/codec/mimi.safetensors }',
    ]
    await writeFile(join(cacheDir, 'two.yaml'), config.join('\n'))
    await writeFile(join(cacheDir, 'tokenizer.model'), fixture('tiny-2026-04/tokenizer.model'))
    await writeFile(join(cacheDir, 'model.safetensors'), model)
    await writeFile(join(cacheDir, 'one.yaml'), 'weights_path: model.safetensors\n')
    const voice = fixture('tiny-2026-04/voices/voice-3.safetensors')
    const speak = async (name: string): Promise<Float32Array> => {
      const tts = await load(join(cacheDir, name))
      const pcm = await tts.generate('Yes.', { voice: await tts.loadVoice(voice) })
      tts.dispose()
      return pcm
    }
    expect(await speak('two.yaml')).toEqual(await speak('one.yaml'))
  })
})

describe('openHub', () => {
  test('fetches, finds, lists, verifies and removes', async () => {
    server.add('someone/model', 'model.safetensors', model)
    const files = openHub(hub)
    const { file } = await files.download(`hf://someone/model/model.safetensors@${commit}`)
    expect(new Uint8Array(await readFile(fileURLToPath(file as URL)))).toEqual(model)
    const [cached] = await files.list(['someone/model'])
    expect(await files.verify(cached!)).toEqual({ state: 'sound' })
    expect(await files.remove(cached!)).toBe(model.length)
    expect(await files.find(`hf://someone/model/model.safetensors@${commit}`)).toBeUndefined()
  })

  test('refuses settings that make no sense', () => {
    expect(() => openHub({ endpoint: 'nowhere' })).toThrow(
      expect.objectContaining({ code: 'invalid-option' }),
    )
    expect(() => openHub({ token: 'a b' })).toThrow(expect.objectContaining({ code: 'invalid-option' }))
  })
})
