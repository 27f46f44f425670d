import { PocketTtsError } from '../errors.ts'
import { checkHubLocation, failFor, type HubLocation, isHubText, parseHubLocation } from './location.ts'

export const officialEndpoint = 'https://huggingface.co'

/** Hosts whose links mean the hub, whatever mirror is set: what people copy out of a browser. */
const officialHosts: ReadonlySet<string> = new Set(['huggingface.co', 'hf.co'])

/** A place on the hub, or a URL of some other server. */
export type RemotePlace =
  | { readonly kind: 'hub'; readonly location: HubLocation }
  | { readonly kind: 'url'; readonly url: URL }

/**
 * Reads `hf://…`, and `https://` links. Links to the hub (`/owner/repo`, `/owner/repo/resolve/revision/path`, and
 * `blob`, `raw` and `tree` alike) become places there, so that they are cached.
 * Throws PocketTtsError `invalid-option` for what cannot be told apart from a trick.
 */
export const parseRemotePlace = (text: string, endpoint: string = officialEndpoint): RemotePlace => {
  if (isHubText(text)) return { kind: 'hub', location: parseHubLocation(text) }
  const url = parseHttpUrl(text)
  const isHub = url.href.startsWith(`${endpoint}/`) || (isSecure(url) && officialHosts.has(url.host))
  if (!isHub) return { kind: 'url', url }
  const base = url.href.startsWith(`${endpoint}/`) ? new URL(endpoint).pathname : '/'
  return { kind: 'hub', location: parseLink(text, url.pathname.slice(base.replace(/\/$/, '').length + 1)) }
}

/** `owner/repo`, then perhaps what the hub's pages and files have: `resolve/revision/path`. */
const parseLink = (text: string, pathname: string): HubLocation => {
  const fail = failFor(text)
  const [owner = '', repo = '', view, revision = 'main', ...names] = pathname
    .replace(/\/$/, '')
    .split('/')
    .map((name) => decodeName(text, name))
  if (view !== undefined && !['resolve', 'blob', 'raw', 'tree'].includes(view)) {
    throw fail(`it is no link to a file: '${view}' stands where 'resolve' or 'blob' is expected`)
  }
  // A name that hides a slash would become two; a revision may hold one (`refs%2Fpr%2F1`).
  if ([owner, repo, ...names].some((name) => name.includes('/'))) throw fail("a name holds an encoded '/'")
  return checkHubLocation({ owner, repo, path: names.join('/'), revision }, fail)
}

const decodeName = (text: string, name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    throw failFor(text)('it holds a malformed percent-encoding')
  }
}

/**
 * An `http://` or `https://` URL that means what it says: URL parsers drop tabs, turn `\` into `/` and resolve `..`
 * and `%2e%2e`, so those are refused rather than understood. Throws PocketTtsError `invalid-option`.
 */
export const parseHttpUrl = (text: string): URL => {
  const fail = (problem: string): Error =>
    new PocketTtsError(
      'invalid-option',
      `${JSON.stringify(text.slice(0, 200))}: ${problem}; expected an https:// URL`,
    )
  if (!/^https?:\/\/[^/]/i.test(text)) throw fail('it is no URL of a file')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u0020\u007f\\]/.test(text)) throw fail('it holds a space, a control character or a backslash')
  if (!URL.canParse(text)) throw fail('it cannot be parsed')
  const url = new URL(text)
  if (url.username || url.password) throw fail('it holds a user name or password')
  const path = /^https?:\/\/[^/?#]*([^?#]*)/i.exec(text)?.[1] ?? ''
  if (path.split('/').some(isClimbing)) throw fail("its path holds '.' or '..'")
  if (/%(00|5c)/i.test(path)) throw fail('its path holds an encoded NUL or backslash')
  return url
}

const isClimbing = (name: string): boolean => /^(\.|%2e){1,2}$/i.test(name)

/** Whether what is sent there stays private: TLS, or this machine itself. */
export const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/**
 * A place as a URL object, for what resolves relative paths and for lists of files: the revision stands with the
 * repository, `hf://owner/repo@revision/path`, so that what is relative to the URL has it too.
 */
export const toHubUrl = ({ owner, repo, path, revision }: HubLocation): URL => {
  const names = path.split('/').map(encodeURIComponent)
  return new URL(`hf://${owner}/${repo}@${encodeURIComponent(revision)}/${names.join('/')}`)
}

export const isHubUrl = (url: URL): boolean => url.protocol === 'hf:'

/** What `toHubUrl` made, or what was made relative to it. Throws PocketTtsError `invalid-option`. */
export const fromHubUrl = (url: URL): HubLocation => {
  const fail = failFor(url.href)
  const [repository = '', ...names] = url.pathname.slice(1).replace(/\/$/, '').split('/')
  const [repo = '', revision = ''] = repository.split('@').map((name) => decodeName(url.href, name))
  const path = names.map((name) => decodeName(url.href, name)).join('/')
  return checkHubLocation({ owner: url.host, repo, path, revision }, fail)
}

/** Where the hub serves a file. */
export const resolveUrl = (location: HubLocation, endpoint: string): string => {
  const { owner, repo, path, revision } = location
  const file = path.split('/').map(encodeURIComponent).join('/')
  return `${endpoint}/${owner}/${repo}/resolve/${encodeURIComponent(revision)}/${file}`
}

/** Where the hub tells sizes and hashes of files, in JSON. */
export const pathsInfoUrl = ({ owner, repo, revision }: HubLocation, endpoint: string): string =>
  `${endpoint}/api/models/${owner}/${repo}/paths-info/${encodeURIComponent(revision)}`

/** Where a person sees a repository, and is granted access to it: always the hub itself, never a mirror. */
export const repositoryPage = ({ owner, repo }: Pick<HubLocation, 'owner' | 'repo'>): string =>
  `${officialEndpoint}/${owner}/${repo}`
