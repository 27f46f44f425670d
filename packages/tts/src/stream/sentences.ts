import { PocketTtsError } from '../errors.ts'
import { orAborted } from '../generate/job.ts'
import { SentenceBuffer } from './sentence-buffer.ts'

/** A piece of text, and where it begins in all the text that came. */
export interface Sentence {
  readonly text: string
  readonly start: number
}

/**
 * The sentences of a text that is still being written, each as soon as it is over. What is left at the end counts as
 * one, unless there is nothing in it to say and something was said before.
 * Throws PocketTtsError `invalid-option` for a piece that is no string, or the signal's reason.
 */
export async function* sentencesOf(
  pieces: AsyncIterable<string>,
  signal: AbortSignal,
): AsyncGenerator<Sentence, void, void> {
  const iterator = pieces[Symbol.asyncIterator]()
  const buffer = new SentenceBuffer()
  let start = 0
  let ended = false
  const locate = (text: string): Sentence => {
    const sentence = { text, start }
    start += text.length
    return sentence
  }
  try {
    while (!ended) {
      const next = await orAborted(Promise.resolve(iterator.next()), signal)
      ended = next.done === true
      if (!next.done) buffer.push(checkPiece(next.value))
      for (let text = buffer.take(); text !== undefined; text = buffer.take()) yield locate(text)
    }
    const rest = buffer.rest()
    if (start === 0 || /[\p{L}\p{N}]/u.test(rest)) yield locate(rest)
  } finally {
    // Not awaited: a generator that waits for its own input answers only when that comes.
    if (!ended) void Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/** Throws PocketTtsError `invalid-option` for a piece of text that is none. */
export const checkPiece = (piece: unknown): string => {
  if (typeof piece === 'string') return piece
  throw new PocketTtsError(
    'invalid-option',
    `a piece of the text is of type ${typeof piece}; it must be a string`,
  )
}
