import { connect } from 'node:net'
import process from 'node:process'
import { describe, expect, it } from 'vitest'
import { counting } from './support/counting-engine.ts'
import { ask, bytesOf, untilIdle, useServers } from './support/serving.ts'

const servers = useServers()

/** Half a minute of speech: nobody in these tests hears its end. */
const text = 'The old man sat by the window and read his newspaper. '.repeat(10)

/** Every format, those the most whose codec starts quickest. */
const mixed = ['mp3', 'wav', 'pcm', 'mp3', 'wav', 'pcm', 'mp3', 'opus', 'flac', 'aac'] as const

describe('a caller who leaves', () => {
  it('at any of a hundred moments leaves no work behind', async () => {
    const engine = counting(servers.engine)
    const server = await servers.start({ concurrency: 8, queue: 100 }, {}, engine)
    const threads = countThreads()
    expect(threads).toBeGreaterThan(0)
    // The longest wait is about as long as two frames take: before, at, and after the first bytes.
    const leave = async (index: number): Promise<void> => {
      const controller = new AbortController()
      const response_format = mixed[index % mixed.length]
      const timer = setTimeout(() => controller.abort(), Math.random() * 250)
      try {
        const response = await ask(
          server,
          { input: text, response_format, stream_format: index % 7 === 0 ? 'sse' : 'audio' },
          { signal: controller.signal },
        )
        await bytesOf(response)
      } catch (error) {
        expect((error as Error).name).toBe('AbortError')
      } finally {
        clearTimeout(timer)
      }
    }
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 10 }, (_, i) => leave(10 * round + i)))
    }
    await untilIdle(server)
    expect(engine.open).toBe(0)
    const { frames } = engine
    const [after, alone] = await Promise.all([
      ask(server, { input: 'Hello.', response_format: 'pcm', seed: 5 }).then(bytesOf),
      servers.engine.generate('Hello.', { voice: 'rms', seed: 5 }),
    ])
    expect(after.length).toBe(2 * alone.length)
    // Nothing but this one utterance was spoken in the meantime.
    expect(engine.frames - frames).toBeLessThanOrEqual(alone.length / 1920 + 1)
    await untilThreads(threads)
  })

  it('in the middle of a request, or without a word, does no harm', async () => {
    const server = await servers.start()
    const { port, hostname } = new URL(server.url)
    const head = 'POST /v1/audio/speech HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
    const openings = [
      '',
      'POST /v1',
      head,
      `${head}content-length: 1000\r\n\r\n{"input":`,
      `${head}\r\n`,
      '\0\0\0',
    ]
    await Promise.all(
      openings.map(
        (opening) =>
          new Promise<void>((resolve) => {
            const socket = connect(Number(port), hostname, () => {
              socket.write(opening)
              setTimeout(() => socket.destroy(), 50)
            })
            socket.on('close', () => resolve()).on('error', () => {})
          }),
      ),
    )
    await untilIdle(server)
    expect((await ask(server, { input: 'Hello.' })).status).toBe(200)
  })
})

/** Threads of this process besides the one that runs this. */
const countThreads = (): number => (process.report.getReport() as { workers: object[] }).workers.length

/** Codecs with threads of their own end them with their stream. */
const untilThreads = async (count: number): Promise<void> => {
  for (let attempt = 0; countThreads() !== count; attempt++) {
    if (attempt === 50) throw new Error(`${countThreads()} threads are left, not ${count}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
