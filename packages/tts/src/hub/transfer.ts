import { PocketTtsError } from '../errors.ts'
import { bodyPieces } from './body.ts'
import type { Checksum, Digest } from './remote-file.ts'
import { type RetryPolicy, TransientFailure, withRetries } from './retry.ts'

/** The bytes of a download that have come so far, kept where a later attempt, or process, finds them. */
export interface PartialFile {
  readonly length: number
  /** The bytes that are there, in order. */
  read(): AsyncIterable<Uint8Array>
  append(bytes: Uint8Array): Promise<void>
  /** Forgets all bytes. */
  clear(): Promise<void>
}

export interface TransferRequest {
  /** Names the file in messages. */
  readonly place: string
  /** Asks for the file with these headers. Rejects with what `refusalOf` makes, or TransientFailure. */
  readonly open: (headers: Record<string, string>) => Promise<Response>
  /** Whether `open` may ask for the rest of the same version: `If-Range`. */
  readonly conditional: boolean
  readonly size: number | undefined
  readonly checksum: Checksum | undefined
  readonly createDigest: (checksum: Checksum, size: number | undefined) => Digest
  /** No file may be larger. */
  readonly maxBytes: number
  /** A body that brings nothing for so long is given up. */
  readonly stallMs: number
  readonly retries: RetryPolicy
  readonly signal: AbortSignal
  readonly onBytes: (loaded: number) => void
}

/** What is gained by an attempt must be worth its request, or a server could keep us asking for ever. */
const worthwhileBytes = 1 << 16

/**
 * Fills `partial` with the whole of a file: goes on where it ends, asks again after a failure that may pass, stops at
 * the announced size, and verifies. When it returns, the bytes are right as far as anything announced can tell.
 *
 * Throws PocketTtsError `download-failed`, `checksum-mismatch` (both forget the bytes where they cannot be right),
 * `access-denied`, `not-found`; or the signal's reason, the bytes kept for later.
 */
export const transfer = async (partial: PartialFile, request: TransferRequest): Promise<void> => {
  const { place, size, maxBytes } = request
  if (size !== undefined && size > maxBytes) throw tooLarge(place, size, maxBytes)
  // Bytes of an earlier run may be of a damaged disk: they get one chance, the ones fetched anew another.
  for (const isLast of [false, true]) {
    const resumedAt = partial.length
    await fetchAll(partial, request)
    const found = await hash(partial, request)
    if (found === request.checksum?.hex) return
    await partial.clear()
    if (isLast || resumedAt === 0) throw mismatch(request, found)
  }
}

const fetchAll = async (partial: PartialFile, request: TransferRequest): Promise<void> => {
  // The answer that the bytes of this run come from; those of an earlier run are told apart by the checksum alone.
  let validator: string | undefined
  let reached = partial.length
  request.onBytes(partial.length)
  const attempt = async (): Promise<void> => {
    if (request.size !== undefined && partial.length > request.size) await partial.clear()
    if (request.size !== undefined && partial.length === request.size) return
    const response = await ask(partial, validator, request)
    validator = request.conditional ? strongValidator(response) : undefined
    await fill(partial, response, request)
  }
  await withRetries(attempt, request.retries, request.signal, () => {
    const gained = partial.length - reached
    reached = Math.max(reached, partial.length)
    return gained >= worthwhileBytes
  })
}

/** Opens the body at the end of the partial file, or at 0 with the partial file cleared. */
const ask = async (
  partial: PartialFile,
  validator: string | undefined,
  request: TransferRequest,
): Promise<Response> => {
  const { place, size, checksum } = request
  // Without anything to verify the whole by, old bytes and new ones might not belong together.
  if (partial.length > 0 && validator === undefined && checksum === undefined) await partial.clear()
  const from = partial.length
  const range: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {}
  if (from > 0 && validator !== undefined) range['if-range'] = validator
  const response = await request.open(range)
  if (response.status === 206) {
    const [, start, total] =
      /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '') ?? []
    if (Number(start) === from && (size === undefined || total === '*' || Number(total) === size))
      return response
    await response.body?.cancel()
    await partial.clear()
    throw new TransientFailure(
      `${place}: the server answered with another part than bytes ${from} to the end`,
    )
  }
  if (response.status === 416) {
    await response.body?.cancel()
    await partial.clear()
    throw new TransientFailure(`${place}: the server has no bytes from ${from} on`)
  }
  await partial.clear()
  checkLength(response, request)
  return response
}

const fill = async (partial: PartialFile, response: Response, request: TransferRequest): Promise<void> => {
  const { place, size, maxBytes, signal, stallMs, onBytes } = request
  const end = size ?? maxBytes
  for await (const piece of bodyPieces(response, { place, signal, stallMs })) {
    const room = end - partial.length
    if (piece.length > room && size === undefined) {
      await partial.clear()
      throw tooLarge(place, undefined, maxBytes)
    }
    await partial.append(piece.subarray(0, room))
    onBytes(partial.length)
    // A server that has more to say is not listened to: the checksum tells whether it was the file.
    if (partial.length === size) return
  }
  if (size !== undefined && partial.length < size) {
    throw new TransientFailure(`${place}: the body ended after ${partial.length} of ${size} bytes`)
  }
}

/** A length that contradicts the announced one is found before anything is read. */
const checkLength = (response: Response, { place, size }: TransferRequest): void => {
  const stated = response.headers.get('content-length')
  // That of a compressed body is another number.
  if (size === undefined || stated === null || response.headers.has('content-encoding')) return
  if (Number(stated) === size) return
  void response.body?.cancel()
  throw new TransientFailure(`${place}: the hub announced ${size} bytes, the server offers ${stated}`)
}

/** Only a strong ETag says that two answers have the same bytes (RFC 9110, 13.1.5). */
const strongValidator = ({ headers }: Response): string | undefined => {
  const etag = headers.get('etag')
  return etag?.startsWith('"') ? etag : undefined
}

const hash = async (partial: PartialFile, request: TransferRequest): Promise<string | undefined> => {
  const { checksum, size, signal, createDigest } = request
  if (checksum === undefined) return undefined
  const digest = createDigest(checksum, size ?? partial.length)
  for await (const piece of partial.read()) {
    signal.throwIfAborted()
    digest.update(piece)
  }
  return digest.hex()
}

const tooLarge = (place: string, size: number | undefined, maxBytes: number): PocketTtsError =>
  new PocketTtsError(
    'download-failed',
    `${place} ${size === undefined ? 'goes on' : `has ${size} bytes, which is`} beyond ${maxBytes} bytes, the most a file may have`,
  )

const mismatch = ({ place, checksum }: TransferRequest, found: string | undefined): PocketTtsError =>
  new PocketTtsError(
    'checksum-mismatch',
    `${place} arrived with the ${checksum?.algorithm} ${found}, expected ${checksum?.hex}; ` +
      'what came was thrown away: try again, and if it happens again, the server or a proxy alters files',
  )
