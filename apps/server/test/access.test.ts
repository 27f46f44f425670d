import { Writable } from 'node:stream'
import { type Logger, pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { expectRefusal } from './support/refusals.ts'
import { ask, bytesOf, untilIdle, useServers } from './support/serving.ts'

const servers = useServers()
const longText = 'The old man sat by the window and read his newspaper. '.repeat(70)
const json = { 'content-type': 'application/json' }

describe('an API key', () => {
  const apiKey = 'correct horse battery staple'

  it.each<[string, Record<string, string>, number]>([
    ['none', {}, 401],
    ['another', { authorization: 'Bearer incorrect horse' }, 401],
    ['the beginning of it', { authorization: `Bearer ${apiKey.slice(0, -1)}` }, 401],
    ['more than it', { authorization: `Bearer ${apiKey}s` }, 401],
    ['an empty one', { authorization: 'Bearer ' }, 401],
    ['another scheme', { authorization: `Basic ${apiKey}` }, 401],
    ['the key itself', { authorization: `Bearer ${apiKey}` }, 200],
    ['the key, in lower-case scheme', { authorization: `bearer ${apiKey}` }, 200],
  ])('%s', async (_title, headers, status) => {
    const server = await servers.start({ apiKey })
    const answers = [
      await fetch(`${server.url}/v1/models`, { headers }),
      await fetch(`${server.url}/v1/audio/voices`, { headers }),
      await ask(server, { input: 'Hello.' }, { headers: { ...json, ...headers } }),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(status)
      if (status === 401) {
        expect(answer.headers.get('www-authenticate')).toBe('Bearer')
        expect(await expectRefusal(answer, 401)).toMatchObject({ code: 'invalid_api_key' })
      } else await answer.body?.cancel()
    }
  })

  it('is not asked for by what tells nothing, and is looked at before the body', async () => {
    const server = await servers.start({ apiKey })
    for (const path of ['/health', '/openapi.json', '/docs', '/']) {
      const response = await fetch(server.url + path)
      expect(response.status, path).toBe(200)
      await response.body?.cancel()
    }
    const tts = await fetch(`${server.url}/tts`, { method: 'POST', body: new Blob(['x']) })
    await expectRefusal(tts, 401)
    expect((await ask(server, { input: 1 })).status).toBe(401)
  })
})

describe('pages of other origins', () => {
  const origin = 'https://page.example'
  const speak = (url: string, from: string) => {
    const form = new FormData()
    form.set('text', 'Hello.')
    return fetch(`${url}/tts`, { method: 'POST', body: form, headers: { origin: from } })
  }

  it('may not have it speak', async () => {
    const { url } = await servers.start()
    for (const from of [origin, 'null', `${url}.evil.example`]) {
      expect(await expectRefusal(await speak(url, from), 403)).toMatchObject({ code: 'origin_not_allowed' })
    }
    const preflight = await fetch(`${url}/v1/audio/speech`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect(preflight.headers.has('access-control-allow-origin')).toBe(false)
    await preflight.body?.cancel()
  })

  it('may where they are listed, errors included; others still may not', async () => {
    const { url } = await servers.start({ corsOrigin: [origin], apiKey: 'key' })
    const preflight = await fetch(`${url}/v1/audio/speech`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
    const keyless = await speak(url, origin)
    expect(keyless.headers.get('access-control-allow-origin')).toBe(origin)
    await expectRefusal(keyless, 401)
    await expectRefusal(await speak(url, 'https://other.example'), 403)
  })

  it('its own page may', async () => {
    const { url } = await servers.start()
    const response = await speak(url, url)
    expect(response.status).toBe(200)
    await response.body?.cancel()
  })
})

describe('the queue', () => {
  it('sends away whom it has no place for, and says when to come back', async () => {
    const server = await servers.start({ concurrency: 1, queue: 1 })
    const leave = new AbortController()
    const speaking = await ask(server, { input: longText }, { signal: leave.signal })
    const waiting = ask(server, { input: 'Hello.', response_format: 'wav' })
    await untilWaiting(server.url, 1)
    const refused = await ask(server, { input: 'Hello.' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await expectRefusal(refused, 429)).toMatchObject({ code: 'rate_limit_exceeded' })
    leave.abort()
    await expect(bytesOf(speaking)).rejects.toThrow(/abort/)
    expect((await bytesOf(await waiting)).length).toBeGreaterThan(44)
  })

  it('forgets whoever leaves while waiting', async () => {
    const server = await servers.start({ concurrency: 1, queue: 1 })
    const first = await ask(server, { input: longText })
    const leave = new AbortController()
    const second = ask(server, { input: 'Hello.' }, { signal: leave.signal })
    await untilWaiting(server.url, 1)
    leave.abort()
    await expect(second).rejects.toThrow(/abort/)
    await untilWaiting(server.url, 0)
    const third = ask(server, { input: 'Hello.' })
    await untilWaiting(server.url, 1)
    await first.body?.cancel()
    expect((await bytesOf(await third)).length).toBeGreaterThan(0)
    await untilIdle(server)
  })
})

const untilWaiting = async (url: string, count: number): Promise<void> => {
  for (;;) {
    const { waiting } = (await (await fetch(`${url}/health`)).json()) as { waiting: number }
    if (waiting === count) return
  }
}

describe('the log', () => {
  it('says what was done, and never what was said, nor the key', async () => {
    const lines: Record<string, unknown>[] = []
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)))
        done()
      },
    })
    const log: Logger = pino({ level: 'debug' }, sink)
    const apiKey = 'xyzzy-key'
    const server = await servers.start({ apiKey }, { log })
    const init = { headers: { ...json, authorization: `Bearer ${apiKey}` } }
    const spoken = await ask(server, { input: 'Plugh, said Hello.', response_format: 'wav' }, init)
    await bytesOf(spoken)
    await ask(server, { input: 'plugh', voice: 'plugh' }, init)
    await ask(server, { input: 'plugh', plugh: 'plugh' }, init)
    await ask(server, { input: 'plugh '.repeat(1000) }, init)
    await ask(server, { input: 'plugh' }, { headers: { ...json, authorization: 'Bearer xyzzy-wrong' } })
    await fetch(`${server.url}/health?text=plugh`)
    const all = JSON.stringify(lines)
    expect(all).not.toMatch(/plugh/i)
    expect(all).not.toMatch(/xyzzy/)
    const requestId = spoken.headers.get('x-request-id')
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'request',
        method: 'POST',
        path: '/v1/audio/speech',
        status: 200,
        requestId,
      }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'speech',
        result: 'spoken',
        voice: 'rms',
        format: 'wav',
        characters: 18,
        requestId,
      }),
    )
  })
})
