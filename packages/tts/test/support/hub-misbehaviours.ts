import type { Misbehaviour } from './hub-server.ts'

const partial = (from: number, total: number): Record<string, string | number> =>
  from > 0 ? { 'content-range': `bytes ${from}-${total - 1}/${total}` } : {}

/** Cuts the connection after so many bytes of an answer that promised more. */
export const dropAfter =
  (count: number, otherEtag?: string): Misbehaviour =>
  ({ response, bytes, from, etag }) => {
    const rest = bytes.subarray(from)
    const headers = { etag: otherEtag ?? etag, 'content-length': rest.length, ...partial(from, bytes.length) }
    response.writeHead(from > 0 ? 206 : 200, headers)
    // Not at once: what lies in buffers when a connection is reset is lost.
    response.write(rest.subarray(0, count), () => setTimeout(() => response.destroy(), 30))
  }

/** Promises another length than the hub announced, and keeps that promise. */
export const otherLength =
  (length: number): Misbehaviour =>
  ({ response }) => {
    response.writeHead(200, { 'content-length': length }).end(new Uint8Array(length))
  }

/** Ends properly, but early, without having said how long it would be. */
export const endAfter =
  (count: number): Misbehaviour =>
  ({ response, bytes, from }) => {
    response.writeHead(from > 0 ? 206 : 200, partial(from, bytes.length))
    response.end(bytes.subarray(from, from + count))
  }

/** The right length, with one bit wrong. */
export const corrupt: Misbehaviour = ({ response, bytes, from }) => {
  const wrong = bytes.slice(from)
  wrong[wrong.length >> 1]! ^= 1
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': wrong.length, ...partial(from, bytes.length) })
  response.end(wrong)
}

/** The file, and then zeros for ever. */
export const endless: Misbehaviour = ({ response, bytes, from }) => {
  response.writeHead(200)
  response.write(bytes.subarray(from))
  const more = (): void => {
    while (!response.destroyed && response.write(new Uint8Array(1 << 16))) {}
  }
  response.on('drain', more)
  more()
}

export const answer =
  (status: number, headers: Record<string, string> = {}): Misbehaviour =>
  ({ response }) => {
    response.writeHead(status, headers).end('no')
  }

/** Sends the beginning, then nothing, and does not hang up. */
export const stallAfter =
  (count: number): Misbehaviour =>
  ({ response, bytes, from }) => {
    const rest = bytes.subarray(from)
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': rest.length,
      ...partial(from, bytes.length),
    })
    response.write(rest.subarray(0, count))
  }

/** So many bytes every few milliseconds. */
export const slowly =
  (count: number, everyMs: number): Misbehaviour =>
  ({ response, bytes, from }) => {
    const rest = bytes.subarray(from)
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': rest.length,
      ...partial(from, bytes.length),
    })
    let sent = 0
    const timer = setInterval(() => {
      const end = Math.min(sent + count, rest.length)
      response.write(rest.subarray(sent, end))
      sent = end
      if (sent === rest.length) {
        clearInterval(timer)
        response.end()
      }
    }, everyMs)
    response.on('close', () => clearInterval(timer))
  }

/** Ignores that only a part was asked for. */
export const ignoreRange: Misbehaviour = ({ response, bytes }) => {
  response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
}

/** Sends another part than was asked for, and says so. */
export const otherPart: Misbehaviour = ({ response, bytes }) => {
  const part = bytes.subarray(5)
  response.writeHead(206, { 'content-length': part.length, ...partial(5, bytes.length) }).end(part)
}

export const redirectTo =
  (url: string): Misbehaviour =>
  ({ response }) => {
    response.writeHead(302, { location: url }).end()
  }
