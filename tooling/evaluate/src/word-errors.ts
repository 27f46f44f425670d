import { numberWords } from './number-words.ts'

/** The words of a text as a recogniser would write them: lower case, digits spelled out, no punctuation. */
export const wordsOf = (text: string): string[] => {
  const spelled = text.replace(/\d+/g, (digits) => ` ${numberWords(Number(digits))} `)
  return (
    spelled
      .toLowerCase()
      .replace(/-/g, ' ')
      .replace(/&/g, ' and ')
      .match(/[a-z']+/g) ?? []
  )
}

/** The fewest substitutions, insertions and deletions that turn one list of words into the other (Levenshtein). */
export const editDistance = (reference: readonly string[], heard: readonly string[]): number => {
  // One row of the table at a time: row[j] is the distance between what has been read so far and heard[0..j).
  let row = Array.from({ length: heard.length + 1 }, (_, j) => j)
  for (const [i, word] of reference.entries()) {
    const next = [i + 1]
    for (const [j, other] of heard.entries()) {
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (word === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)!
}

export interface WordErrors {
  readonly errors: number
  /** Words of the reference text. */
  readonly words: number
}

export const wordErrors = (text: string, heard: string): WordErrors => {
  const reference = wordsOf(text)
  return { errors: editDistance(reference, wordsOf(heard)), words: reference.length }
}

/** Word error rate over many utterances: all errors over all words, in percent. */
export const errorRate = (results: readonly WordErrors[]): number => {
  const errors = results.reduce((sum, result) => sum + result.errors, 0)
  const words = results.reduce((sum, result) => sum + result.words, 0)
  return (100 * errors) / words
}
