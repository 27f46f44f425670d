import { mini } from '@pocket/mini'
import { type AppHooks, type RunningServer, type ServerOptions, startServer } from '@pocket/server'
import { loadInWorker, type SpeechEngine } from '@pocket/tts'
import { afterAll, afterEach, beforeAll } from 'vitest'

/** An engine for the tests of a file, and servers on it that end with their test. */
export const useServers = () => {
  let engine: SpeechEngine | undefined
  const servers: RunningServer[] = []
  beforeAll(async () => {
    engine = await loadInWorker(mini)
  })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()))
  })
  afterAll(() => engine?.dispose())
  return {
    get engine(): SpeechEngine {
      return engine!
    },
    /** Listens on a free port of the loopback. */
    async start(options: ServerOptions = {}, hooks: AppHooks = {}, on = engine!): Promise<RunningServer> {
      const server = await startServer(on, { port: 0, ...options }, hooks)
      servers.push(server)
      return server
    },
  }
}

/** Asks for speech as clients of OpenAI's API do. */
export const ask = ({ url }: RunningServer, body: object, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', voice: 'rms', ...body }),
    ...init,
  })

export const bytesOf = async (response: Response): Promise<Uint8Array> =>
  new Uint8Array(await response.arrayBuffer())

/** Resolves when nothing is being spoken and nobody waits; rejects if that is not so within ten seconds. */
export const untilIdle = async ({ url }: RunningServer): Promise<void> => {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const { running, waiting } = (await (await fetch(`${url}/health`)).json()) as Record<string, number>
    if (running === 0 && waiting === 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('work is left running')
}
