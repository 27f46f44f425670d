/** One line of a listening list: a WAV file and what it should say. */
export interface Utterance {
  readonly file: string
  readonly text: string
}

/** Tab-separated values, one utterance a line: the file, then its text. */
export const formatList = (utterances: readonly Utterance[]): string =>
  utterances.map(({ file, text }) => `${file}\t${text}\n`).join('')

/** Throws on a line that is not a file, a tab and a text. */
export const parseList = (text: string): Utterance[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      const [file, sentence, ...rest] = line.split('\t')
      if (!file || !sentence || rest.length > 0) {
        throw new Error(`line ${index + 1} is '${line}', expected a file name, a tab and a text`)
      }
      return { file, text: sentence }
    })
