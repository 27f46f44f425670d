import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { mini } from '@pocket/mini'
import type { RunningServer } from '@pocket/server'
import { encodeWav } from '@pocket/tts'
import { fixturePath, readFixture } from '@tooling/fixtures'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { listen } from './support/other-server.ts'
import { expectRefusal } from './support/refusals.ts'
import { bytesOf, useServers } from './support/serving.ts'

const servers = useServers()
let server: RunningServer
beforeEach(async () => {
  server = await servers.start({ maxText: 200, maxUpload: 1_000_000, queue: 0 })
})

const json = { 'content-type': 'application/json' }
const post = (path: string, body: RequestInit['body'], headers: Record<string, string> = {}) =>
  fetch(server.url + path, { method: 'POST', body: body ?? null, headers })

const good = { model: 'tts-1', input: 'Hello.', voice: 'alloy' }
const without = (name: keyof typeof good) =>
  Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))

describe('POST /v1/audio/speech refuses, and says what', () => {
  it.each<[string, string | object, string | null, string, number?]>([
    ['no body', '', null, 'invalid_body'],
    ['a body that is no JSON', 'Hello.', null, 'invalid_body'],
    ['a body cut off', '{"model":"tts-1","input":"He', null, 'invalid_body'],
    ['a form in place of JSON', 'model=tts-1&input=Hello', null, 'invalid_body'],
    ['ten thousand brackets', '['.repeat(10_000), null, 'invalid_body'],
    ['NaN, which JSON lacks', '{"input": NaN}', null, 'invalid_body'],
    ['null', 'null', null, 'invalid_type'],
    ['a string', '"Hello."', null, 'invalid_type'],
    ['a list', [good], null, 'invalid_type'],
    ['a number', '42', null, 'invalid_type'],
    ['an empty object', {}, 'model', 'missing_parameter'],
    ['no model', without('model'), 'model', 'missing_parameter'],
    ['no input', without('input'), 'input', 'missing_parameter'],
    ['no voice', without('voice'), 'voice', 'missing_parameter'],
    ['an unknown model', { ...good, model: 'gpt-5' }, 'model', 'model_not_found', 404],
    ['a model that is a number', { ...good, model: 1 }, 'model', 'invalid_type'],
    ['input that is a number', { ...good, input: 42 }, 'input', 'invalid_type'],
    ['input that is a list', { ...good, input: ['Hello.'] }, 'input', 'invalid_type'],
    ['input that is null', { ...good, input: null }, 'input', 'invalid_type'],
    ['empty input', { ...good, input: '' }, 'input', 'invalid_value'],
    ['input of spaces', { ...good, input: ' \n\t ' }, 'input', 'invalid_value'],
    ['input beyond the limit', { ...good, input: 'a'.repeat(201) }, 'input', 'above_maximum'],
    ['an unknown voice', { ...good, voice: 'nobody' }, 'voice', 'unknown_voice'],
    ['an unknown voice by id', { ...good, voice: { id: 'nobody' } }, 'voice', 'unknown_voice'],
    ['a voice that is a path', { ...good, voice: '/etc/passwd' }, 'voice', 'unknown_voice'],
    ['a voice that is a file', { ...good, voice: './rms.safetensors' }, 'voice', 'unknown_voice'],
    ['a voice that is a URL', { ...good, voice: 'http://169.254.169.254/' }, 'voice', 'unknown_voice'],
    ['a voice from the hub', { ...good, voice: 'hf://a/b/c.safetensors' }, 'voice', 'unknown_voice'],
    ['a voice named like a property', { ...good, voice: '__proto__' }, 'voice', 'unknown_voice'],
    ['an empty voice', { ...good, voice: '' }, 'voice', 'unknown_voice'],
    ['a voice that is a number', { ...good, voice: 1 }, 'voice', 'invalid_value'],
    ['a voice with more than an id', { ...good, voice: { id: 'rms', x: 1 } }, 'voice.x', 'unknown_parameter'],
    ['an unknown format', { ...good, response_format: 'ogg' }, 'response_format', 'invalid_value'],
    ['a format that is null', { ...good, response_format: null }, 'response_format', 'invalid_value'],
    ['double speed', { ...good, speed: 2 }, 'speed', 'invalid_value'],
    ['a speed out of range', { ...good, speed: 0 }, 'speed', 'below_minimum'],
    ['a speed that is a word', { ...good, speed: 'fast' }, 'speed', 'invalid_type'],
    [
      'an endless speed',
      `{"model":"tts-1","input":"a","voice":"rms","speed":1e999}`,
      'speed',
      'invalid_type',
    ],
    ['instructions', { ...good, instructions: 'Whisper.' }, 'instructions', 'above_maximum'],
    ['an unknown stream format', { ...good, stream_format: 'ws' }, 'stream_format', 'invalid_value'],
    ['a negative seed', { ...good, seed: -1 }, 'seed', 'below_minimum'],
    ['half a seed', { ...good, seed: 0.5 }, 'seed', 'invalid_type'],
    ['a seed beyond what a number holds', { ...good, seed: 2 ** 60 }, 'seed', 'above_maximum'],
    ['a negative temperature', { ...good, temperature: -1 }, 'temperature', 'below_minimum'],
    ['a misspelt field', { ...good, respones_format: 'wav' }, 'respones_format', 'unknown_parameter'],
    ['a field for the prototype', `{"__proto__":{},"model":"tts-1"}`, 'input', 'missing_parameter'],
  ])('%s', async (_title, body, param, code, status = 400) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await post('/v1/audio/speech', text, json)
    expect(await expectRefusal(response, status)).toMatchObject({ param, code })
  })

  it.each([['text/plain'], ['multipart/form-data; boundary=x'], ['application/xml'], ['']])(
    'a body of type "%s" with 415',
    async (type) => {
      const response = await post('/v1/audio/speech', new Blob([JSON.stringify(good)]), {
        'content-type': type,
      })
      expect(await expectRefusal(response, 415)).toMatchObject({ code: 'unsupported_media_type' })
    },
  )

  it('names of voices and models that would do', async () => {
    const voice = await expectRefusal(
      await post('/v1/audio/speech', JSON.stringify({ ...good, voice: 'x' }), json),
      400,
    )
    expect(voice.message).toContain('awb, rms, slt')
    const model = await expectRefusal(
      await post('/v1/audio/speech', JSON.stringify({ ...good, model: 'x' }), json),
      404,
    )
    expect(model.message).toContain('pocket-mini')
  })

  it('text that is odd, but text, is spoken', async () => {
    for (const input of ['\ud800', '😀', '"He said \\"hi\\" é"', '\0', '。', '<speak>Hi.</speak>']) {
      const response = await post('/v1/audio/speech', JSON.stringify({ ...good, input }), json)
      expect(response.status, input).toBe(200)
      await response.body?.cancel()
    }
  })
})

describe('bodies beyond the limits are refused with 413', () => {
  it('before they are read, where they say how long they are', async () => {
    const response = await post(
      '/v1/audio/speech',
      JSON.stringify({ ...good, input: 'a'.repeat(50_000) }),
      json,
    )
    expect(await expectRefusal(response, 413)).toMatchObject({ code: 'body_too_large' })
  })

  /** Sends a body without saying how long it is. */
  const trickle = (pieces: Buffer[]): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const upload = request(
        `${server.url}/v1/audio/speech`,
        { method: 'POST', headers: json },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      upload.on('error', reject)
      for (const piece of pieces) upload.write(piece)
      upload.end()
    })

  it('as soon as they are, where they do not', async () => {
    expect(await trickle(Array.from({ length: 10 }, () => Buffer.alloc(10_000, 'a')))).toBe(413)
    expect(await trickle([...JSON.stringify(good)].map((character) => Buffer.from(character)))).toBe(200)
  })

  it('uploads', async () => {
    const form = new FormData()
    form.set('text', 'Hello.')
    form.set('voice_wav', new Blob([new Uint8Array(2_000_000)]))
    expect(await expectRefusal(await post('/tts', form), 413)).toMatchObject({ code: 'body_too_large' })
  })
})

describe('POST /tts', () => {
  const tts = (fields: Record<string, string | Blob>) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    return post('/tts', form)
  }

  it('speaks as a WAV stream, with the default voice, a named one or an alias', async () => {
    const spoken = async (fields: Record<string, string>) => bytesOf(await tts({ text: 'Hello.', ...fields }))
    const usual = await spoken({})
    expect(Buffer.from(usual.subarray(0, 4)).toString()).toBe('RIFF')
    expect(await spoken({ voice_url: 'rms' })).toEqual(usual)
    expect(await spoken({ voice_url: 'alloy' })).toEqual(usual)
    expect(await spoken({ voice_url: 'slt' })).not.toEqual(usual)
  })

  it('speaks like an uploaded recording', async () => {
    const recording = encodeWav(await servers.engine.generate('Good morning.', { voice: 'slt', seed: 1 }))
    const response = await tts({ text: 'Hello.', voice_wav: new Blob([new Uint8Array(recording)]) })
    expect(response.status).toBe(200)
    expect((await bytesOf(response)).length).toBeGreaterThan(20_000)
  })

  it.each(readdirSync(fixturePath('audio/refuse')))(
    '415 for the upload %s, which is no WAV that is read',
    async (file) => {
      const response = await tts({
        text: 'Hello.',
        voice_wav: new Blob([new Uint8Array(readFixture(`audio/refuse/${file}`))]),
      })
      expect(await expectRefusal(response, 415)).toMatchObject({
        param: 'voice_wav',
        code: 'unsupported_audio',
      })
    },
  )

  it.each<[string, Record<string, string | Blob>, string | null, string]>([
    ['no text', { voice_url: 'rms' }, 'text', 'missing_parameter'],
    ['empty text', { text: '' }, 'text', 'invalid_value'],
    ['text of spaces', { text: '  ' }, 'text', 'invalid_value'],
    ['text beyond the limit', { text: 'a'.repeat(201) }, 'text', 'above_maximum'],
    ['text that is a file', { text: new Blob(['Hello.']) }, 'text', 'invalid_type'],
    ['an unknown voice', { text: 'Hi.', voice_url: 'nobody' }, 'voice_url', 'unknown_voice'],
    ['a path', { text: 'Hi.', voice_url: '/etc/passwd' }, 'voice_url', 'unknown_voice'],
    ['a URL', { text: 'Hi.', voice_url: 'http://127.0.0.1/a.wav' }, 'voice_url', 'voice_url_not_allowed'],
    ['a file URL', { text: 'Hi.', voice_url: 'file:///etc/passwd' }, 'voice_url', 'voice_url_not_allowed'],
    ['a hub URL', { text: 'Hi.', voice_url: 'hf://a/b/c' }, 'voice_url', 'voice_url_not_allowed'],
    ['a recording that is text', { text: 'Hi.', voice_wav: 'RIFF' }, 'voice_wav', 'invalid_value'],
    ['both', { text: 'Hi.', voice_url: 'rms', voice_wav: new Blob(['x']) }, 'voice_url', 'invalid_value'],
    ['an unknown field', { text: 'Hi.', speed: '2' }, 'speed', 'unknown_parameter'],
  ])('refuses %s', async (_title, fields, param, code) => {
    expect(await expectRefusal(await tts(fields), 400)).toMatchObject({ param, code })
  })

  it.each([
    ['no body', '', 'multipart/form-data; boundary=x', 400],
    ['no boundary', '--x', 'multipart/form-data', 400],
    [
      'no end',
      '--x\r\ncontent-disposition: form-data; name="text"\r\n\r\nHi',
      'multipart/form-data; boundary=x',
      400,
    ],
    ['no parts', '--x--', 'multipart/form-data; boundary=x', 400],
    ['random bytes', '\x01\x02\xff', 'multipart/form-data; boundary=x', 400],
    ['JSON', '{"text":"Hi."}', 'application/json', 415],
  ])('refuses a body with %s', async (_title, body, type, status) => {
    await expectRefusal(await post('/tts', new Blob([body]), { 'content-type': type }), status)
  })

  it('fetches voices only from where its owner allows', async () => {
    server = await servers.start({ voiceUrl: ['https://voices.example/good/'] })
    for (const url of [
      'https://voices.example/bad/a.safetensors',
      'https://voices.example/good/../bad/a.safetensors',
      'https://voices.example/good/%2e%2e/bad/a.safetensors',
      'https://voices.example.evil.org/good/a.safetensors',
      'https://voices.example@evil.org/good/a.safetensors',
      'http://voices.example/good/a.safetensors',
    ]) {
      const refusal = await expectRefusal(await tts({ text: 'Hi.', voice_url: url }), 400)
      expect(refusal.code, url).toBe('voice_url_not_allowed')
    }
    // Nobody is there: it was tried.
    const refusal = await expectRefusal(
      await tts({ text: 'Hi.', voice_url: 'https://voices.example/good/a.safetensors' }),
      400,
    )
    expect(refusal.code).toBe('invalid_voice')
  })

  it('follows a redirect only to where its owner allows', async () => {
    const bytes = await readFile(mini.voices.slt)
    const inside = vi.fn()
    const intranet = await listen((_request, response) => {
      inside()
      response.end(bytes)
    })
    const shelf = await listen(({ url }, response) => {
      if (url === '/voices/slt.safetensors') response.end(bytes)
      else if (url === '/voices/moved') response.writeHead(302, { location: 'slt.safetensors' }).end()
      else if (url === '/voices/loop') response.writeHead(302, { location: 'loop' }).end()
      else response.writeHead(302, { location: `${intranet.url}/secret` }).end()
    })
    server = await servers.start({ voiceUrl: [`${shelf.url}/voices/`] })
    const from = (path: string) => tts({ text: 'Hi.', voice_url: `${shelf.url}/voices/${path}` })
    const expected = await (await tts({ text: 'Hi.', voice_url: 'slt' })).arrayBuffer()
    for (const path of ['slt.safetensors', 'moved']) {
      expect(await (await from(path)).arrayBuffer(), path).toEqual(expected)
    }
    expect((await expectRefusal(await from('loop'), 400)).code).toBe('invalid_voice')
    expect((await expectRefusal(await from('elsewhere'), 400)).code).toBe('voice_url_not_allowed')
    expect(inside).not.toHaveBeenCalled()
    await Promise.all([shelf.close(), intranet.close()])
  })
})

it('what is not there is a 404 in the same shape', async () => {
  for (const path of ['/v1/nothing', '/v1/audio/speech', '/..%2f..%2fpackage.json', '/%']) {
    const refusal = await expectRefusal(await fetch(server.url + path), 404)
    expect(refusal.code).toBe('not_found')
  }
})
