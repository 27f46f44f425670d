import { mini } from '@pocket/mini'
import { loadInWorker, PocketTtsError, toResponse } from '@pocket/tts'

const engine = await loadInWorker(mini)

/** Hono, Next.js, Bun, Deno and service workers take such a handler as it is. */
const handle = async (request: Request): Promise<Response> => {
  const text = new URL(request.url).searchParams.get('text') ?? ''
  try {
    return await toResponse(engine.stream(text, { signal: request.signal }))
  } catch (error) {
    // Nothing has been sent yet: the answer may still be another one.
    if (error instanceof PocketTtsError) return new Response(error.message, { status: 400 })
    throw error
  }
}

const response = await handle(new Request('http://localhost/?text=Hello.'))
console.log(`${response.status}, ${response.headers.get('content-type')}`)
let pieces = 0
for await (const _ of response.body ?? []) pieces++
console.log(pieces > 1 ? 'it came in pieces, each as soon as it was made' : '')

const refusal = await handle(new Request('http://localhost/?text='))
console.log(`${refusal.status}, ${await refusal.text()}`)
engine.dispose()
