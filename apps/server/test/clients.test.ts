import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApp, ServerError, type ServerOptions } from '@pocket/server'
import { Validator } from '@seriousme/openapi-schema-validator'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { ask, bytesOf, useServers } from './support/serving.ts'

const servers = useServers()

describe('the official client of OpenAI', () => {
  const apiKey = 'secret'
  const connect = async (key = apiKey) => {
    const { url } = await servers.start({ apiKey })
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  }

  it('gets speech, as MP3 unless it asks for something else', async () => {
    const client = await connect()
    const speech = await client.audio.speech.create({
      model: 'gpt-4o-mini-tts',
      voice: 'nova',
      input: 'Good day.',
    })
    expect(speech.headers.get('content-type')).toBe('audio/mpeg')
    // 11 set bits begin a frame of MPEG audio.
    const [first, second] = new Uint8Array(await speech.arrayBuffer())
    expect([first, second! & 0xe0]).toEqual([0xff, 0xe0])
  })

  it('reads it while it comes', async () => {
    const client = await connect()
    const speech = await client.audio.speech.create({
      model: 'tts-1',
      voice: { id: 'slt' },
      input: 'Good day.',
      response_format: 'pcm',
    })
    let [pieces, bytes] = [0, 0]
    for await (const piece of speech.body!) {
      pieces++
      bytes += piece.length
    }
    expect(pieces).toBeGreaterThan(1)
    expect(bytes % (2 * 1920)).toBe(0)
  })

  it('lists the models', async () => {
    const client = await connect()
    const ids = (await client.models.list()).data.map(({ id }) => id)
    expect(ids).toContain('pocket-mini')
    for (const model of ids) {
      const speech = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hi.' })
      await speech.body?.cancel()
    }
  })

  it('throws the errors it has for what goes wrong', async () => {
    const client = await connect()
    const create = (input: string, voice: string, model = 'tts-1') =>
      client.audio.speech.create({ model, voice, input })
    await expect(create('', 'alloy')).rejects.toThrow(OpenAI.BadRequestError)
    await expect(create('Hi.', 'nobody')).rejects.toMatchObject({
      status: 400,
      param: 'voice',
      code: 'unknown_voice',
    })
    await expect(create('Hi.', 'alloy', 'gpt-5')).rejects.toThrow(OpenAI.NotFoundError)
    const stranger = await connect('guess')
    await expect(stranger.models.list()).rejects.toThrow(OpenAI.AuthenticationError)
  })
})

describe('voices', () => {
  it('of OpenAI all have somebody who speaks for them; each list entry is one that speaks', async () => {
    const server = await servers.start()
    const { default: usual, voices } = (await (await fetch(`${server.url}/v1/audio/voices`)).json()) as {
      default: string
      voices: { id: string; name: string; aliases: string[] }[]
    }
    expect(usual).toBe('rms')
    expect(voices.map(({ id }) => id)).toEqual(['awb', 'rms', 'slt'])
    expect(voices.flatMap(({ aliases }) => aliases).sort()).toEqual(
      ['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable'].concat([
        'marin',
        'nova',
        'onyx',
        'sage',
        'shimmer',
        'verse',
      ]),
    )
    const bytes = async (voice: string) =>
      bytesOf(await ask(server, { input: 'Hi.', voice, response_format: 'pcm' }))
    const { id, aliases } = voices[2]!
    expect(await bytes(aliases[0]!)).toEqual(await bytes(id))
  })

  it('may get other names, and another one may be the usual', async () => {
    const server = await servers.start({ defaultVoice: 'slt', voiceAlias: { nova: 'awb', narrator: 'rms' } })
    const { default: usual, voices } = (await (await fetch(`${server.url}/v1/audio/voices`)).json()) as {
      default: string
      voices: { id: string; aliases: string[] }[]
    }
    expect(usual).toBe('slt')
    const aliases = Object.fromEntries(voices.map((voice) => [voice.id, voice.aliases]))
    expect(aliases.awb).toContain('nova')
    expect(aliases.rms).toContain('narrator')
    expect(aliases.slt).toContain('alloy')
    expect(aliases.slt).not.toContain('nova')
  })
})

describe('the description of the API', () => {
  it('is valid OpenAPI, and has every route', async () => {
    const { url } = await servers.start({ apiKey: 'key' })
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, object>
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
    expect(Object.keys(document.paths!).sort()).toEqual(
      ['/health', '/tts', '/v1/audio/speech', '/v1/audio/voices', '/v1/models'].sort(),
    )
    expect(document).toMatchObject({
      openapi: '3.1.0',
      security: [{ key: [] }],
      components: {
        schemas: {
          SpeechRequest: {
            required: ['model', 'input', 'voice'],
            additionalProperties: false,
            properties: { response_format: { default: 'mp3' }, input: { maxLength: 4096 } },
          },
        },
      },
    })
  })

  it('is there for people as well, with nothing from elsewhere', async () => {
    const { url } = await servers.start()
    const page = await (await fetch(`${url}/docs`)).text()
    expect(page).toContain('POST /v1/audio/speech')
    expect(page).toContain('response_format')
    expect(page).not.toMatch(/https?:|<script/)
    const style = await fetch(`${url}/docs.css`)
    expect(style.headers.get('content-type')).toContain('text/css')
    await style.body?.cancel()
  })
})

describe('the page', () => {
  it('is served with headers that keep others out and let it use threads', async () => {
    const { url } = await servers.start({ page: fileURLToPath(new URL('../page', import.meta.url)) })
    const response = await fetch(url)
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    expect(await response.text()).toContain('<textarea')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(response.headers.get('cross-origin-embedder-policy')).toBe('require-corp')
    for (const [file, type] of [
      ['speak.js', 'text/javascript'],
      ['style.css', 'text/css'],
    ]) {
      const part = await fetch(`${url}/${file}`)
      expect(part.headers.get('content-type')).toContain(type)
      await part.body?.cancel()
    }
  })

  it('may be another', async () => {
    const page = mkdtempSync(join(tmpdir(), 'page-'))
    try {
      writeFileSync(join(page, 'index.html'), 'Mine.')
      const { url } = await servers.start({ page })
      expect(await (await fetch(url)).text()).toBe('Mine.')
    } finally {
      rmSync(page, { recursive: true })
    }
  })
})

describe('an app without a socket', () => {
  it('answers requests', async () => {
    const { fetch: answer } = createApp(servers.engine)
    const response = await answer(
      new Request('http://x/v1/audio/speech', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'tts-1', voice: 'alloy', input: 'Hi.', response_format: 'pcm' }),
      }),
    )
    expect((await bytesOf(response)).length).toBeGreaterThan(1920)
  })

  it('breaks speech off when it is stopped, and does not let it look whole', async () => {
    const app = createApp(servers.engine)
    const input = 'The old man sat by the window and read his newspaper. '.repeat(70)
    const body = JSON.stringify({ model: 'tts-1', voice: 'alloy', input, response_format: 'pcm' })
    const speak = () =>
      app.fetch(
        new Request('http://x/v1/audio/speech', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        }),
      )
    const response = await speak()
    app.stop()
    await expect(bytesOf(response)).rejects.toThrow('broke off')
    expect((await speak()).status).toBe(503)
  })

  it.each<[string, ServerOptions, RegExp]>([
    ['a port beyond all', { port: 70_000 }, /port/],
    ['no concurrency', { concurrency: 0 }, /concurrency/],
    ['an alias for nobody', { voiceAlias: { x: 'nobody' } }, /no voice 'nobody'; it has awb, rms, slt/],
    ['a default voice that is not there', { defaultVoice: 'nobody' }, /defaultVoice: .*'nobody'/],
    ['an origin with a path', { corsOrigin: ['https://a.example/'] }, /origin/],
    ['a URL prefix that others could continue', { voiceUrl: ['https://a.example'] }, /slash/],
    ['a page that is not there', { page: '/nowhere' }, /no folder/],
    ['an unknown option', { colour: 'red' } as ServerOptions, /colour/],
  ])('refuses %s', (_title, options, message) => {
    const create = () => createApp(servers.engine, options)
    expect(create).toThrow(ServerError)
    expect(create).toThrow(message)
  })
})
