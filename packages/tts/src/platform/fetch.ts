import { SafeTensors } from '@pocket/safetensors'
import { messageOf, PocketTtsError } from '../errors.ts'
import type { OpenWeights, ReadOptions } from './platform.ts'

/** The body of a URL. Throws PocketTtsError `not-found`, or the signal's reason. */
export const fetchBytes = async (url: URL, options: ReadOptions = {}): Promise<Uint8Array> => {
  const { signal, onBytes, maxBytes = Number.POSITIVE_INFINITY } = options
  const response = await request(url, signal)
  const total = statedLength(response)
  const pieces: Uint8Array[] = []
  let loaded = 0
  for await (const piece of bodyOf(response, url, signal)) {
    loaded += piece.length
    if (loaded > maxBytes) throw tooLarge(url.href, maxBytes)
    pieces.push(piece)
    onBytes?.(loaded, total)
  }
  return concatenate(pieces, loaded)
}

/** The pieces of a body, through its reader: Safari's streams are not iterable. Leaving early cancels the body. */
async function* bodyOf(
  response: Response,
  url: URL,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (cause) {
    signal?.throwIfAborted()
    throw notFetched(url, cause)
  } finally {
    // Of a body that has ended this does nothing; of one that failed it repeats the failure.
    await reader.cancel().catch(() => {})
  }
}

export const fetchWeights = async (url: URL, options?: ReadOptions): Promise<OpenWeights> => ({
  reader: SafeTensors.fromBytes(await fetchBytes(url, options)),
  close: async () => {},
})

export const tooLarge = (where: string, maxBytes: number): PocketTtsError =>
  new PocketTtsError(
    'invalid-model',
    `${where} is larger than ${maxBytes} bytes, the most such a file may have; it is something else`,
  )

const request = async (url: URL, signal: AbortSignal | undefined): Promise<Response> => {
  let response: Response
  try {
    response = await fetch(url, signal ? { signal } : {})
  } catch (cause) {
    signal?.throwIfAborted()
    throw notFetched(url, cause)
  }
  if (!response.ok) {
    await response.body?.cancel()
    throw new PocketTtsError(
      'not-found',
      `${url.href} answered ${response.status} ${response.statusText}`.trim(),
    )
  }
  // Servers of single-page apps answer every missing file with their page.
  if (response.headers.get('content-type')?.startsWith('text/html')) {
    await response.body?.cancel()
    throw new PocketTtsError('not-found', `${url.href} answered with a web page, not with a file`)
  }
  return response
}

const notFetched = (url: URL, cause: unknown): PocketTtsError => {
  const reason = messageOf(cause)
  return new PocketTtsError('not-found', `${url.href} cannot be fetched: ${reason}`, { cause })
}

/** The length of a compressed body is not the length of what it holds. */
const statedLength = ({ headers }: Response): number | undefined => {
  const length = Number(headers.get('content-length') ?? Number.NaN)
  return headers.has('content-encoding') || !Number.isSafeInteger(length) ? undefined : length
}

const concatenate = (pieces: readonly Uint8Array[], length: number): Uint8Array => {
  const whole = new Uint8Array(length)
  let position = 0
  for (const piece of pieces) {
    whole.set(piece, position)
    position += piece.length
  }
  return whole
}
