import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { mini } from '@pocket/mini'
import { loadInWorker, toReadableStream } from '@pocket/tts'

const engine = await loadInWorker(mini)
const server = createServer(async (_, response) => {
  response.writeHead(200, { 'content-type': 'audio/wav' })
  try {
    await pipeline(toReadableStream(engine.stream('Hello there. '.repeat(100))), response)
  } catch {
    console.log('the listener has gone, and the work has stopped')
    server.close()
    engine.dispose()
  }
})
await once(server.listen(0, '127.0.0.1'), 'listening')

// A client that has heard enough.
const { port } = server.address() as AddressInfo
const { body } = await fetch(`http://127.0.0.1:${port}/`)
for await (const bytes of body ?? []) {
  console.log(bytes.length > 0 ? 'speech comes' : '')
  break
}
await once(server, 'close')
