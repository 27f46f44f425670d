import { PocketTtsError } from '../errors.ts'
import {
  capitalizeFirst,
  countWords,
  endsAlphanumeric,
  replaceLoneSurrogates,
  strip,
} from './python-string.ts'
import { requireTextProfile, type TextFlags } from './text-flags.ts'

export interface PreparedText {
  readonly text: string
  /** 3 for at most four words, else 1. See `framesAfterEosFromGuess`. */
  readonly framesAfterEosGuess: number
}

const PADDING = ' '.repeat(8)

/**
 * Brings a text into the form the model was trained on, as `prepare_text_prompt` of the reference 2.1.0 does:
 * stripped, line breaks as spaces, pairs of spaces halved once (so that three become two), the first letter
 * upper case, a full stop after a final letter or digit. Lone surrogates become U+FFFD.
 *
 * @throws PocketTtsError `empty-text` when nothing but white space is there; `invalid-option` for a profile
 * that cannot be used, or a text that is no string.
 */
export const prepareText = (text: string, flags: TextFlags = {}): PreparedText => {
  requireTextProfile(flags.textProfile)
  if (typeof text !== 'string') {
    throw new PocketTtsError('invalid-option', `the text is of type ${typeof text}; it must be a string`)
  }
  const stripped = strip(replaceLoneSurrogates(text))
  if (stripped === '') {
    throw new PocketTtsError('empty-text', 'the text is empty or only white space; give at least one word')
  }
  const line = stripped.replace(/[\n\r]/g, ' ').replaceAll('  ', ' ')
  const words = countWords(line)
  return { text: finish(line, words, flags), framesAfterEosGuess: words <= 4 ? 3 : 1 }
}

const finish = (line: string, words: number, flags: TextFlags): string => {
  const { padWithSpacesForShortInputs, removeSemicolons, appendTerminalPunctuation = true } = flags
  let text = removeSemicolons ? line.replaceAll(';', ',') : line
  text = capitalizeFirst(text)
  if (appendTerminalPunctuation && endsAlphanumeric(text)) text += '.'
  return padWithSpacesForShortInputs && words < 5 ? PADDING + text : text
}
