import process from 'node:process'
import type { Worker } from 'node:worker_threads'
import { mini } from '@pocket/mini'
import { ServerError } from '@pocket/server'
import { loadInWorker, PocketTts, PocketTtsError, type SpeechEngine } from '@pocket/tts'
import { describe, expect, it } from 'vitest'
import { expectRefusal } from './support/refusals.ts'
import { ask, bytesOf, useServers } from './support/serving.ts'

const servers = useServers()
const longText = 'The old man sat by the window and read his newspaper. '.repeat(70)

describe('a server that drains', () => {
  it('lets speech end, and those who wait have their turn; nobody new gets in', async () => {
    const server = await servers.start({ concurrency: 1, queue: 1 })
    const body = { input: 'Good morning.', response_format: 'pcm', seed: 1 }
    const first = await ask(server, body)
    const second = ask(server, body)
    await untilWaiting(server.url)
    const drained = server.drain()
    await expect(fetch(`${server.url}/health`)).rejects.toThrow('fetch failed')
    const whole = await servers.engine.generate(body.input, { voice: 'rms', seed: 1 })
    expect((await bytesOf(first)).length).toBe(2 * whole.length)
    expect((await bytesOf(await second)).length).toBe(2 * whole.length)
    await drained
  })

  it('breaks speech off when it is closed', async () => {
    const server = await servers.start()
    const response = await ask(server, { input: longText })
    await server.close()
    await expect(bytesOf(response)).rejects.toThrow()
  })
})

const untilWaiting = async (url: string): Promise<void> => {
  for (;;) {
    const { waiting } = (await (await fetch(`${url}/health`)).json()) as { waiting: number }
    if (waiting > 0) return
  }
}

it('an address that is taken is told', async () => {
  const { url } = await servers.start()
  const again = servers.start({ port: Number(new URL(url).port) })
  await expect(again).rejects.toThrow(ServerError)
  await expect(again).rejects.toMatchObject({ code: 'cannot-listen' })
})

it('an engine that has died is told to callers, to health checks and to its owner', async () => {
  const engine = await loadInWorker(mini)
  const server = await servers.start({}, {}, engine)
  engine.dispose()
  expect(await expectRefusal(await ask(server, { input: 'Hello.' }), 503)).toMatchObject({
    code: 'engine_stopped',
  })
  await server.engineLost
  const health = await fetch(`${server.url}/health`)
  expect(health.status).toBe(503)
  expect(await health.json()).toMatchObject({ status: 'failed' })
  await expectRefusal(await ask(server, { input: 'Hello.' }), 503)
})

it('an engine that has lost a thread of its own has died', async () => {
  const started: Worker[] = []
  const watch = (thread: Worker): void => void started.push(thread)
  process.on('worker', watch)
  const engine = await PocketTts.load(mini, { threads: 2 })
  process.off('worker', watch)
  const server = await servers.start({}, {}, engine)
  await started[0]!.terminate()
  const answer = await ask(server, { input: 'Hello.' })
  expect(await expectRefusal(answer, 503)).toMatchObject({ code: 'engine_stopped' })
  await server.engineLost
  engine.dispose()
})

it('an engine that has lost its GPU goes on with the next request', async () => {
  const engine = await PocketTts.load(mini)
  let calls = 0
  const losing: SpeechEngine = new Proxy<SpeechEngine>(engine, {
    get(target, name) {
      if (name === 'stream' && calls++ === 0) {
        return () => {
          throw new PocketTtsError('gpu-lost', 'the GPU is gone')
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const server = await servers.start({}, {}, losing)
  const body = { input: 'Hello.', response_format: 'pcm' }
  expect(await expectRefusal(await ask(server, body), 503)).toMatchObject({ code: 'gpu_lost' })
  expect((await bytesOf(await ask(server, body))).length).toBeGreaterThan(0)
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  engine.dispose()
})
