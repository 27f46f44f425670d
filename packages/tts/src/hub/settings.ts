import { PocketTtsError } from '../errors.ts'
import { isSecure, officialEndpoint, parseHttpUrl } from './hub-url.ts'

/** What a caller may set; what is left out comes from the environment in Node, and is the usual in browsers. */
export interface HubOptions {
  /** The hub, or a mirror of it. In Node else `HF_ENDPOINT`. */
  readonly endpoint?: string | undefined
  /** An access token; `false` sends none. In Node else `HF_TOKEN`, else the token file of the Python tools. */
  readonly token?: string | false | undefined
  /** Only what is in the cache is used. In Node else `HF_HUB_OFFLINE`. */
  readonly offline?: boolean | undefined
  /** Node only: the folder of the cache. Else `HF_HUB_CACHE`, else `hub` in `HF_HOME`. */
  readonly cacheDir?: string | undefined
}

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly token: string | undefined
  /** Where the token comes from, for people: `HF_TOKEN`, a path. */
  readonly tokenSource: string | undefined
  readonly offline: boolean
}

/** Throws PocketTtsError `invalid-option`; `source` names where the text comes from. */
export const checkEndpoint = (text: string, source: string): string => {
  const fail = (problem: string, cause?: unknown): PocketTtsError =>
    new PocketTtsError(
      'invalid-option',
      `${source} is ${JSON.stringify(text)}: ${problem}; expected something like ${officialEndpoint}`,
      cause === undefined ? {} : { cause },
    )
  let url: URL
  try {
    url = parseHttpUrl(text)
  } catch (cause) {
    throw fail('it is no http:// or https:// URL', cause)
  }
  if (url.search || url.hash) throw fail("it has a '?' or '#'")
  return url.href.replace(/\/+$/, '')
}

/** Throws PocketTtsError `invalid-option` for what no HTTP header can carry; never quotes the token. */
export const checkToken = (text: string, source: string): string => {
  const token = text.trim()
  if (/^[\x21-\x7e]+$/.test(token)) return token
  const found = token === '' ? 'is empty' : 'holds spaces, control or non-ASCII characters'
  throw new PocketTtsError('invalid-option', `the token from ${source} ${found}; expected one like hf_…`)
}

/**
 * The headers for a URL: the token goes to the hub's own origin and to no other host or port, and never in clear over
 * a network.
 */
export const authorization = (
  url: URL,
  { endpoint, token }: Pick<HubSettings, 'endpoint' | 'token'>,
): Record<string, string> => {
  const mayKnow = url.origin === new URL(endpoint).origin && isSecure(url)
  return token !== undefined && mayKnow ? { authorization: `Bearer ${token}` } : {}
}
