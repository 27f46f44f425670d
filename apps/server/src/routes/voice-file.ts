import { badRequest } from '../http/api-error.ts'

/** Whether the owner of the server lets voices come from a URL, normalised. */
export type Allowed = (href: string) => boolean

/** As many hops as browsers and hubs make in practice; a longer chain is a loop. */
const mostRedirects = 5

/** A voice of 30 s of the largest model (24 layers, float32) has some 75 MB. */
const largestVoiceFile = 256 * 1024 * 1024

/**
 * The bytes of a voice file. Every redirect must lead to where voices may come from: a server that is trusted to hold
 * voices is not trusted to send this one into its own network.
 *
 * @throws ApiError `voice_url_not_allowed`, `invalid_voice`; the signal's reason
 */
export const fetchAllowed = async (
  href: string,
  isAllowed: Allowed,
  signal: AbortSignal,
): Promise<Uint8Array> => {
  let place = href
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const response = await ask(place, signal)
    const next = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || next === null) return read(response, signal)
    await response.body?.cancel()
    place = URL.canParse(next, place) ? new URL(next, place).href : next
    if (!isAllowed(place)) {
      throw badRequest(
        'the voice lies where this server fetches no voices from: it was redirected there',
        'voice_url_not_allowed',
        'voice_url',
      )
    }
  }
  throw invalid(`it was redirected more than ${mostRedirects} times`)
}

const ask = async (href: string, signal: AbortSignal): Promise<Response> => {
  try {
    return await fetch(href, { signal, redirect: 'manual' })
  } catch {
    signal.throwIfAborted()
    throw invalid('it cannot be fetched')
  }
}

const read = async (response: Response, signal: AbortSignal): Promise<Uint8Array> => {
  if (!response.ok) {
    await response.body?.cancel()
    throw invalid(`it was answered with ${response.status}`)
  }
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  try {
    for await (const piece of response.body ?? []) {
      length += piece.length
      if (length > largestVoiceFile) break
      pieces.push(piece)
    }
  } catch {
    signal.throwIfAborted()
    throw invalid('its transfer broke off')
  }
  if (length > largestVoiceFile) throw invalid(`it is larger than ${largestVoiceFile} bytes`)
  return new Uint8Array(await new Blob(pieces).arrayBuffer())
}

const invalid = (reason: string) =>
  badRequest(`the voice cannot be loaded: ${reason}`, 'invalid_voice', 'voice_url')
