import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const commit = 'c0ffee0000000000000000000000000000000001'
export const token = 'hf_test'

export interface Seen {
  readonly host: 'hub' | 'cdn'
  readonly method: string
  readonly path: string
  readonly range: string | undefined
  readonly ifRange: string | undefined
  readonly authorization: string | undefined
}

interface StoredFile {
  readonly bytes: Uint8Array
  readonly isLarge: boolean
  readonly etag: string
}

/** Answers a GET for a file's bytes instead of the server. `from` is where the client wants them to begin. */
export type Misbehaviour = (answer: {
  readonly response: ServerResponse
  readonly bytes: Uint8Array
  readonly from: number
  /** What the server calls the bytes. */
  readonly etag: string
  /** Answers as a good server does. */
  readonly behave: () => void
}) => void

/**
 * The hub in small, on this machine: files that git keeps come from it directly, large ones by a redirect to a second
 * server on another port, which is another origin. Both do as they are told to misbehave.
 */
export class HubServer {
  readonly seen: Seen[] = []
  /** For the next GETs of bytes, one each; then `always`. */
  readonly misbehaviours: Misbehaviour[] = []
  always: Misbehaviour | undefined
  /** What every request to the hub itself is answered with, while set. */
  refusal: { status: number; headers?: Record<string, string> } | undefined
  /** Changes the answer to HEAD. */
  announce: Record<string, string | undefined> = {}
  readonly #files = new Map<string, StoredFile>()
  readonly #gated = new Set<string>()
  readonly #hub: Server
  readonly #cdn: Server

  static async start(): Promise<HubServer> {
    const server = new HubServer()
    await Promise.all(
      [server.#hub, server.#cdn].map(
        (part) => new Promise<void>((resolve) => part.listen(0, '127.0.0.1', resolve)),
      ),
    )
    return server
  }

  private constructor() {
    this.#hub = createServer((request, response) => this.#answerHub(request, response))
    this.#cdn = createServer((request, response) => this.#answerCdn(request, response))
  }

  get endpoint(): string {
    return originOf(this.#hub)
  }

  get cdn(): string {
    return originOf(this.#cdn)
  }

  /** Puts a file into every revision; large ones as the hub keeps them, named by SHA-256. */
  add(repository: string, path: string, bytes: Uint8Array, isLarge = true): StoredFile {
    const etag = isLarge ? sha256(bytes) : gitSha1(bytes)
    const file = { bytes, isLarge, etag }
    this.#files.set(`${repository}/${path}`, file)
    return file
  }

  gate(repository: string): void {
    this.#gated.add(repository)
  }

  /** Requests for bytes: GETs that were not redirected. */
  bodies(): Seen[] {
    return this.seen.filter(
      ({ method, host, path }) => method === 'GET' && (host === 'cdn' || !this.#isLarge(path)),
    )
  }

  async stop(): Promise<void> {
    for (const part of [this.#hub, this.#cdn]) {
      part.closeAllConnections()
      await new Promise((resolve) => part.close(resolve))
    }
  }

  #isLarge(path: string): boolean {
    return this.#find(path)?.isLarge ?? false
  }

  #note(host: Seen['host'], { method = '', url = '', headers }: IncomingMessage): void {
    this.seen.push({
      host,
      method,
      path: decodeURIComponent(url),
      range: headers.range,
      ifRange: headers['if-range'] as string | undefined,
      authorization: headers.authorization,
    })
  }

  /** The file behind `/owner/repo/resolve/revision/path`. */
  #find(url: string): StoredFile | undefined {
    const [, repository, path] = /^\/([^/]+\/[^/]+)\/resolve\/[^/]+\/(.+)$/.exec(url) ?? []
    return this.#files.get(`${repository}/${path}`)
  }

  #answerHub(request: IncomingMessage, response: ServerResponse): void {
    this.#note('hub', request)
    const path = decodeURIComponent(request.url ?? '')
    if (this.refusal) {
      response.writeHead(this.refusal.status, this.refusal.headers).end('no')
      return
    }
    if (path.startsWith('/api/models/')) {
      this.#answerPathsInfo(path, request, response)
      return
    }
    const file = this.#find(path)
    const repository = path.split('/').slice(1, 3).join('/')
    if (this.#gated.has(repository) && request.headers.authorization !== `Bearer ${token}`) {
      const status = request.headers.authorization === undefined ? 401 : 403
      response.writeHead(status, { 'x-error-code': 'GatedRepo' }).end('no')
      return
    }
    if (!file) {
      response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end('no')
      return
    }
    const headers = this.#describe(file)
    if (file.isLarge) response.writeHead(302, headers).end()
    else if (request.method === 'HEAD') {
      response.writeHead(200, { ...headers, 'content-length': file.bytes.length }).end()
    } else this.#sendBody(request, response, file, headers)
  }

  #describe({ bytes, isLarge, etag }: StoredFile): Record<string, string> {
    const headers: Record<string, string | undefined> = isLarge
      ? {
          'x-repo-commit': commit,
          'x-linked-etag': `"${etag}"`,
          'x-linked-size': String(bytes.length),
          etag: '"of-the-pointer"',
          location: `${this.cdn}/${etag}?signature=s3cret`,
        }
      : { 'x-repo-commit': commit, etag: `"${etag}"` }
    const announced = Object.entries({ ...headers, ...this.announce })
    return Object.fromEntries(announced.filter((entry): entry is [string, string] => entry[1] !== undefined))
  }

  #answerPathsInfo(path: string, request: IncomingMessage, response: ServerResponse): void {
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      const [, repository = ''] = /^\/api\/models\/(.+)\/paths-info\//.exec(path) ?? []
      const { paths } = JSON.parse(body) as { paths: string[] }
      const found = paths.flatMap((name) => {
        const file = this.#files.get(`${repository}/${name}`)
        if (!file) return []
        const { bytes, isLarge, etag } = file
        const size = bytes.length
        const lfs = isLarge ? { lfs: { oid: etag, size, pointerSize: 134 } } : {}
        return [{ type: 'file', path: name, size, oid: isLarge ? 'f'.repeat(40) : etag, ...lfs }]
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found))
    })
  }

  #answerCdn(request: IncomingMessage, response: ServerResponse): void {
    this.#note('cdn', request)
    const etag = request.url?.slice(1, 65)
    const file = [...this.#files.values()].find((stored) => stored.etag === etag)
    if (file) this.#sendBody(request, response, file, { etag: `"cdn-${etag?.slice(0, 8)}"` })
    else response.writeHead(404).end()
  }

  #sendBody(
    request: IncomingMessage,
    response: ServerResponse,
    { bytes }: StoredFile,
    headers: Record<string, string>,
  ): void {
    const { range, 'if-range': ifRange } = request.headers
    const stillValid = ifRange === undefined || ifRange === headers.etag
    const from = stillValid ? Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0) : 0
    const behave = (): void => {
      if (from >= bytes.length && from > 0) {
        response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
        return
      }
      const part = bytes.subarray(from)
      const partial = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }
      response
        .writeHead(from > 0 ? 206 : 200, {
          ...headers,
          'content-length': part.length,
          ...(from > 0 ? partial : {}),
        })
        .end(part)
    }
    const misbehave = this.misbehaviours.shift() ?? this.always
    if (misbehave) misbehave({ response, bytes, from, etag: headers.etag ?? '', behave })
    else behave()
  }
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export const gitSha1 = (bytes: Uint8Array): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')

/** Bytes without a pattern, the same for the same seed. */
export const noise = (length: number, seed = 1): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length)
  let state = seed
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    bytes[i] = state >>> 24
  }
  return bytes
}
