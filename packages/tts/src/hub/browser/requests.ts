import { reasonOf } from '../body.ts'
import { TransientFailure } from '../retry.ts'
import { authorization, type HubSettings } from '../settings.ts'

/**
 * Asks, and lets the browser follow redirects, which it hides. It takes the token off where one leads to another
 * origin, as the Fetch standard wants. Rejects with TransientFailure where there is no answer, or the signal's reason.
 */
export const sendRequest = async (
  url: string,
  settings: Pick<HubSettings, 'endpoint' | 'token'>,
  { headers, signal, ...request }: RequestInit & { headers?: Record<string, string>; signal: AbortSignal },
  stallMs: number,
): Promise<Response> => {
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`no answer within ${stallMs / 1000} s`)), stallMs)
  try {
    return await fetch(url, {
      ...request,
      // It is kept by us: twice would fill the disk.
      cache: 'no-store',
      signal: AbortSignal.any([signal, stalled.signal]),
      headers: { ...headers, ...authorization(new URL(url), settings) },
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw new TransientFailure(`${new URL(url).host} cannot be reached: ${reasonOf(cause)}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
