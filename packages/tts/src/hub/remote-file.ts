import { PocketTtsError } from '../errors.ts'
import { isCommit } from './location.ts'

/** What the hub says of a file before it is fetched. */
export interface RemoteFile {
  /** The commit that the revision stands for; undefined where the hub does not say. */
  readonly commit: string | undefined
  /** Identifies the contents, and names them in the cache: safe as a file name. */
  readonly etag: string
  /** In bytes; undefined where the hub does not say. */
  readonly size: number | undefined
}

/** How the contents are to hash. */
export interface Checksum {
  /** `git-sha1` is that of git's blob objects: the bytes after `blob <size>` and a NUL. */
  readonly algorithm: 'sha256' | 'git-sha1'
  readonly hex: string
}

/** Feeds on bytes, in order. */
export interface Digest {
  update(bytes: Uint8Array): void
  hex(): string | Promise<string>
}

/**
 * The hub names large files by their SHA-256 and small ones by git's SHA-1, and so every file can be verified.
 * Undefined for an ETag of another form, which some mirrors have.
 */
export const checksumOf = (etag: string): Checksum | undefined => {
  if (/^[0-9a-f]{64}$/.test(etag)) return { algorithm: 'sha256', hex: etag }
  if (/^[0-9a-f]{40}$/.test(etag)) return { algorithm: 'git-sha1', hex: etag }
  return undefined
}

/** What stands before a file's bytes in git's hash. */
export const gitBlobHeader = (size: number): Uint8Array => new TextEncoder().encode(`blob ${size}\0`)

/**
 * Reads the hub's answer to HEAD. `X-Linked-*` describe a large file itself; the usual headers then describe the
 * redirect to it. Throws PocketTtsError `download-failed` where `where` answers as no hub does.
 */
export const remoteFileOf = (headers: Headers, where: string): RemoteFile => {
  const etag = headers.get('x-linked-etag') ?? headers.get('etag')
  const size =
    headers.get('x-linked-size') ?? (headers.has('location') ? null : headers.get('content-length'))
  const commit = headers.get('x-repo-commit')
  if (etag === null) {
    throw notAHub(where, 'without an ETag')
  }
  if (commit !== null && !isCommit(commit)) throw notAHub(where, `with the commit ${JSON.stringify(commit)}`)
  return { commit: commit ?? undefined, etag: checkEtag(etag, where), size: checkSize(size, where) }
}

/**
 * Reads the hub's answer to a question about one path (`paths-info`), which browsers ask since redirects are hidden
 * from them. Undefined where the path does not exist.
 */
export const remoteFileOfPathsInfo = (
  answer: unknown,
  path: string,
  where: string,
): RemoteFile | undefined => {
  if (!Array.isArray(answer)) throw notAHub(where, 'with no list')
  const entry: unknown = answer.find((item: unknown) => isRecord(item) && item.path === path)
  if (!isRecord(entry) || entry.type === 'directory') return undefined
  const { oid, size } = isRecord(entry.lfs) ? entry.lfs : entry
  if (typeof oid !== 'string') throw notAHub(where, 'without a hash')
  // The API has said both, with and without the algorithm's name.
  return {
    commit: undefined,
    etag: checkEtag(oid.replace(/^sha256:/, ''), where),
    size: checkSize(typeof size === 'number' ? String(size) : null, where),
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** An ETag becomes the name of a file: whatever a server sends, it names one in the folder it belongs into. */
const checkEtag = (header: string, where: string): string => {
  const etag = header.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
  if (/^[\w-]{1,128}$/.test(etag)) return etag
  throw notAHub(where, `with the ETag ${JSON.stringify(header.slice(0, 80))}`)
}

const checkSize = (text: string | null, where: string): number | undefined => {
  if (text === null) return undefined
  const size = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(size)) return size
  throw notAHub(where, `with the size ${JSON.stringify(text.slice(0, 40))}`)
}

const notAHub = (where: string, how: string): PocketTtsError =>
  new PocketTtsError(
    'download-failed',
    `${where} answered ${how}, which the Hugging Face hub never does; check HF_ENDPOINT, or log in to this network`,
  )
