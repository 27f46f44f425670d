import { describe, expect, it } from 'vitest'
import { counting } from './support/counting-engine.ts'
import { ask, bytesOf, untilIdle, useServers } from './support/serving.ts'

const servers = useServers()

const formats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const

/** Minutes of speech: nobody in these tests hears its end. */
const longText = 'The old man sat by the window and read his newspaper. '.repeat(70)

const health = async (url: string) => (await (await fetch(`${url}/health`)).json()) as Record<string, unknown>

describe('speech is heard while it is made', () => {
  it.each(formats)('%s: the first bytes come long before the last are known', async (response_format) => {
    const engine = counting(servers.engine)
    const server = await servers.start({}, {}, engine)
    const response = await ask(server, { input: longText, response_format })
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    expect(value!.length).toBeGreaterThan(0)
    expect(engine.open).toBe(1)
    expect(await health(server.url)).toMatchObject({ running: 1 })
    await reader.cancel()
    await untilIdle(server)
    expect(engine.open).toBe(0)
  })

  it('as events, whose pieces together are the sound', async () => {
    const server = await servers.start()
    const body = { input: 'Good morning.', response_format: 'wav', seed: 3 }
    const [plain, events] = await Promise.all([
      ask(server, body).then(bytesOf),
      ask(server, { ...body, stream_format: 'sse' }),
    ])
    expect(events.headers.get('content-type')).toBe('text/event-stream')
    const parsed = (await events.text())
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) => JSON.parse(event.replace(/^data: /, '')))
    const deltas = parsed.filter(({ type }) => type === 'speech.audio.delta')
    expect(deltas.length).toBeGreaterThan(5)
    const sound = Buffer.concat(deltas.map(({ audio }) => Buffer.from(audio, 'base64')))
    expect(new Uint8Array(sound)).toEqual(plain)
    const frames = (plain.length - 44) / 2 / 1920
    expect(parsed.at(-1)).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: 13, output_tokens: frames, total_tokens: 13 + frames },
    })
  })

  it('a listener who takes nothing holds nobody up for longer than the speech is made', async () => {
    const server = await servers.start({ concurrency: 1 })
    const lazy = await ask(server, { input: 'Good morning, everybody.', response_format: 'wav' })
    const eager = await ask(server, { input: 'Good morning.', response_format: 'wav' })
    expect((await bytesOf(eager)).length).toBeGreaterThan(44)
    expect((await bytesOf(lazy)).length).toBeGreaterThan(44)
  })
})

describe('sixteen at once', () => {
  it('hear the same bytes as one alone', async () => {
    const server = await servers.start({ concurrency: 16 })
    const bodies = [
      { input: 'Hello.', seed: 1, voice: 'rms', response_format: 'wav' },
      { input: 'Thank you.', seed: 2, voice: 'slt', response_format: 'mp3' },
      { input: 'Not today.', seed: 3, voice: 'awb', response_format: 'flac' },
      { input: 'Good.', seed: 4, voice: 'rms', response_format: 'pcm' },
    ]
    const alone: Uint8Array[] = []
    for (const body of bodies) alone.push(await bytesOf(await ask(server, body)))
    const together = await Promise.all(
      Array.from({ length: 4 }, () => bodies)
        .flat()
        .map((body) => ask(server, body).then(bytesOf)),
    )
    expect(together.length).toBe(16)
    for (const [i, bytes] of together.entries()) expect(bytes).toEqual(alone[i % 4])
  })
})
