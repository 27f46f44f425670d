import type { SentencePieceUnigram } from '@pocket/sentencepiece'
import { PocketTtsError } from '../errors.ts'
import { framesAfterEosFromGuess, maxFramesForTokens } from '../text/frame-limits.ts'
import { prepareText } from '../text/prepare-text.ts'
import { splitIntoBestSentences } from '../text/split-sentences.ts'
import type { Settings } from './options.ts'
import { TextSpans } from './text-spans.ts'
import type { TextSpan } from './utterance.ts'

/** A piece of text that is spoken in one go. */
export interface PlannedChunk {
  readonly text: string
  readonly ids: Uint32Array
  readonly framesAfterEos: number
  readonly maxFrames: number
  readonly span: TextSpan
}

export interface PlanContext {
  readonly tokenizer: SentencePieceUnigram
  readonly frameRate: number
  readonly settings: Pick<Settings, 'framesAfterEos' | 'maxTokens' | 'textFlags' | 'onWarning'>
  /** Positions of the voice. */
  readonly voicePositions: number
  readonly maxPositions: number
}

/**
 * Cuts a text into chunks and settles what can be settled before any is spoken.
 *
 * @param offset where `text` begins in what the caller handed in
 * @throws PocketTtsError `empty-text` (also where a chunk would have nothing to say), `too-long`
 */
export const planText = (text: string, context: PlanContext, offset = 0): PlannedChunk[] => {
  const { tokenizer, frameRate, settings } = context
  const { maxTokens, textFlags } = settings
  const spans = new TextSpans(text, offset)
  const chunks = splitIntoBestSentences(text, tokenizer, maxTokens, textFlags).map((chunk) => {
    // Refuses an empty chunk, as the reference does.
    const { framesAfterEosGuess } = prepareText(chunk, textFlags)
    const ids = Uint32Array.from(tokenizer.encode(chunk))
    return {
      text: chunk,
      ids,
      framesAfterEos: settings.framesAfterEos ?? framesAfterEosFromGuess(framesAfterEosGuess),
      maxFrames: maxFramesForTokens(ids.length, frameRate),
      span: spans.next(chunk),
    }
  })
  if (chunks.length === 0) throw new PocketTtsError('empty-text', 'the text holds nothing that can be spoken')
  for (const chunk of chunks) checkRoom(chunk, context)
  for (const chunk of chunks) warnIfLong(chunk, settings)
  return chunks
}

const checkRoom = ({ text, ids, maxFrames }: PlannedChunk, context: PlanContext): void => {
  const { voicePositions, maxPositions } = context
  const needed = voicePositions + ids.length + maxFrames
  if (needed <= maxPositions) return
  throw new PocketTtsError(
    'too-long',
    `the chunk '${brief(text)}' needs ${needed} positions (voice ${voicePositions}, text ${ids.length}, speech ` +
      `${maxFrames}) and there are ${maxPositions}; add punctuation to split at, or load with a greater maxPositions ` +
      'and one lane',
  )
}

/** `maxTokens` 0 asks for one chunk a sentence; nobody is surprised by what is longer. */
const warnIfLong = ({ text, ids, span }: PlannedChunk, settings: PlanContext['settings']): void => {
  const { maxTokens, onWarning } = settings
  if (maxTokens === 0 || ids.length <= maxTokens) return
  onWarning?.({
    code: 'long-chunk',
    message: `'${brief(text)}' has ${ids.length} tokens, more than ${maxTokens}, and nowhere to split; words may be lost`,
    span,
  })
}

const brief = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
