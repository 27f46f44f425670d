import type { SentencePieceUnigram } from '@pocket/sentencepiece'
import { PocketTtsError } from '../errors.ts'
import { prepareText } from './prepare-text.ts'
import { strip } from './python-string.ts'
import type { TextFlags } from './text-flags.ts'

/** What splitting asks of a tokenizer. */
export type TextTokenizer = Pick<SentencePieceUnigram, 'encode' | 'decode'>

interface Segment {
  readonly text: string
  readonly tokens: number
}

/** Tokens a chunk should not exceed: the length of utterance the model was trained on. */
export const DEFAULT_MAX_TOKENS = 50

/**
 * Prepares a text and cuts it into the chunks that are generated one after another, as
 * `split_into_best_sentences` of the reference 2.1.0 does. Sentences end after the tokens of `.!...?`; one of
 * more than `maxTokens` is cut again after the tokens of `,;:`; neighbours are joined by a space while their
 * tokens fit. A clause without any of those marks stays whole, whatever its length, and so a chunk may hold
 * more than `maxTokens`. A chunk may be empty (from a text that is only `▁`); `prepareText` refuses it.
 *
 * @param maxTokens at least 0
 * @throws PocketTtsError `empty-text` or `invalid-option`
 */
export const splitIntoBestSentences = (
  text: string,
  tokenizer: TextTokenizer,
  maxTokens: number = DEFAULT_MAX_TOKENS,
  flags: TextFlags = {},
): string[] => {
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 0) {
    throw new PocketTtsError(
      'invalid-option',
      `maxTokens is ${maxTokens}; it must be an integer of at least 0`,
    )
  }
  const prepared = strip(prepareText(text, flags).text)
  const sentences = splitAfter(boundaryTokens('.!...?', tokenizer), prepared, tokenizer)
  const clauseEnds = boundaryTokens(',;:', tokenizer)
  const segments = sentences.flatMap((sentence) => {
    if (sentence.tokens <= maxTokens) return [sentence]
    const clauses = splitAfter(clauseEnds, strip(sentence.text), tokenizer)
    return clauses.length > 1 ? clauses : [sentence]
  })
  return joinUpTo(maxTokens, segments)
}

/** Boundaries are token ids, not characters: a mark that the tokenizer glued into a longer piece ends nothing. */
const boundaryTokens = (marks: string, tokenizer: TextTokenizer): Set<number> => {
  // The first id is the word-start piece `▁` that the tokenizer puts before every text.
  const [, ...ids] = tokenizer.encode(marks)
  return new Set(ids)
}

/** Cuts after every run of boundary tokens. Every segment is decoded alone, which drops its leading space. */
const splitAfter = (ends: Set<number>, text: string, tokenizer: TextTokenizer): Segment[] => {
  const ids = tokenizer.encode(text)
  const segments: Segment[] = []
  let start = 0
  let afterEnd = false
  const close = (end: number): void => {
    segments.push({ text: tokenizer.decode(ids.slice(start, end)), tokens: end - start })
    start = end
  }
  for (const [position, id] of ids.entries()) {
    const isEnd = ends.has(id)
    if (afterEnd && !isEnd) close(position)
    afterEnd = isEnd
  }
  close(ids.length)
  return segments
}

/** Greedy: a segment joins the current chunk as long as their token counts fit together. */
const joinUpTo = (maxTokens: number, segments: readonly Segment[]): string[] => {
  const chunks: string[] = []
  let chunk = ''
  let tokens = 0
  for (const segment of segments) {
    const fits = chunk !== '' && tokens + segment.tokens <= maxTokens
    if (fits) {
      chunk += ` ${segment.text}`
      tokens += segment.tokens
      continue
    }
    // An empty segment holds no speech: the reference lets the next one take its place.
    if (chunk !== '') chunks.push(strip(chunk))
    chunk = segment.text
    tokens = segment.tokens
  }
  if (chunk !== '') chunks.push(strip(chunk))
  return chunks
}
