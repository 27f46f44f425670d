import type { OutputOptions, Samples } from './audio-format.ts'
import { EncodedFrames } from './encoded-frames.ts'
import { streamOf } from './readable-stream.ts'

export interface ResponseOptions extends OutputOptions, Omit<ResponseInit, 'headers'> {
  /** In addition to `content-type`, `cache-control: no-store` and `accept-ranges: none`, or in place of those. */
  // Node's types have no HeadersInit.
  readonly headers?: ResponseInit['headers'] | undefined
}

/**
 * Speech as the answer to a request. It is there when the first frame is, so that an error before that rejects and can
 * be answered with a status of its own; a later one breaks the body off. When the reader goes away, the generation
 * stops.
 *
 * @throws PocketTtsError `invalid-option`; whatever the first frame throws
 */
export const toResponse = async (
  frames: AsyncIterable<Samples>,
  options: ResponseOptions = {},
): Promise<Response> => {
  const { format, sampleRate, headers: extra, ...init } = options
  const pieces = new EncodedFrames(frames, { format, sampleRate })
  const headers = new Headers({
    'content-type': pieces.contentType,
    // Made for this reader: no part of it can be asked for again.
    'cache-control': 'no-store',
    'accept-ranges': 'none',
  })
  new Headers(extra).forEach((value, name) => {
    headers.set(name, value)
  })
  const first = await pieces.next()
  try {
    return new Response(streamOf(pieces, first), { ...init, headers })
  } catch (error) {
    // A status that takes no body, or is none.
    await pieces.stop()
    throw error
  }
}
