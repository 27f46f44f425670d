import { writeFile } from 'node:fs/promises'
import { mini } from '@pocket/mini'
import { startServer } from '@pocket/server'
import { loadInWorker } from '@pocket/tts'
import OpenAI from 'openai'

const engine = await loadInWorker(mini)
const server = await startServer(engine, { port: 0, queue: 8 })

const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none is wanted' })
const speech = await client.audio.speech.create({
  model: 'tts-1',
  voice: 'alloy',
  input: 'Hello from my pocket.',
})
await writeFile('hello.mp3', new Uint8Array(await speech.arrayBuffer()))
console.log(`${server.url} spoke into hello.mp3`)

await server.drain()
engine.dispose()
