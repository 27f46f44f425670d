import { PocketTtsError } from '../../errors.ts'
import { reasonOf } from '../body.ts'
import { TransientFailure } from '../retry.ts'
import { authorization, type HubSettings } from '../settings.ts'

const mostRedirects = 10

export interface HubRequest {
  readonly method: 'GET' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** No answer for so long is a failure. */
  readonly stallMs: number
}

/**
 * Asks, and follows redirects by hand: what is sent is decided anew for every URL on the way, so that the token stays
 * with the hub. HEAD stops at a redirect that describes the file itself; the place it leads to knows less.
 *
 * Rejects with TransientFailure where there is no answer, PocketTtsError `download-failed` for redirects that no hub
 * makes, or the signal's reason.
 */
export const sendRequest = async (
  start: string,
  settings: Pick<HubSettings, 'endpoint' | 'token'>,
  request: HubRequest,
): Promise<Response> => {
  let url = new URL(start)
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const response = await send(url, settings, request)
    const target = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || target === null) return response
    if (request.method === 'HEAD' && response.headers.has('x-linked-etag')) return response
    await response.body?.cancel()
    url = nextUrl(url, target)
  }
  throw new PocketTtsError('download-failed', `${start} redirects more than ${mostRedirects} times`)
}

const send = async (
  url: URL,
  settings: Pick<HubSettings, 'endpoint' | 'token'>,
  { method, headers, signal, stallMs }: HubRequest,
): Promise<Response> => {
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`no answer within ${stallMs / 1000} s`)), stallMs)
  try {
    return await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.any([signal, stalled.signal]),
      // Sizes and ranges are those of the file only if it comes as it is.
      headers: { 'accept-encoding': 'identity', ...headers, ...authorization(url, settings) },
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw new TransientFailure(`${url.host} cannot be reached: ${reasonOf(cause)}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

const nextUrl = (from: URL, target: string): URL => {
  const to = URL.canParse(target, from) ? new URL(target, from) : undefined
  const isWeaker = from.protocol === 'https:' && to?.protocol === 'http:'
  if (to && /^https?:$/.test(to.protocol) && !isWeaker) return to
  throw new PocketTtsError(
    'download-failed',
    `${from.host} redirects to ${JSON.stringify(target.slice(0, 200))}, which is not followed`,
  )
}
