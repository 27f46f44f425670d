import { PocketTtsError } from '../errors.ts'

/** `'reference'` is the Python reference 2.1.0, quirks included. `'natural'` is not available yet. */
export type TextProfile = 'reference' | 'natural'

/** How text is prepared. The three booleans are properties of a checkpoint; its `config.yaml` names them. */
export interface TextFlags {
  /** `'reference'` when absent. */
  readonly textProfile?: TextProfile | undefined
  /** Puts 8 spaces before texts of fewer than 5 words. Off when absent. */
  readonly padWithSpacesForShortInputs?: boolean | undefined
  /** Turns every `;` into `,`. Off when absent. */
  readonly removeSemicolons?: boolean | undefined
  /** Ends a text whose last character is a letter or a digit with a full stop. On when absent. */
  readonly appendTerminalPunctuation?: boolean | undefined
}

/** Throws `PocketTtsError('invalid-option')` for a profile that cannot be used. */
export const requireTextProfile = (profile: TextProfile = 'reference'): void => {
  if (profile === 'reference') return
  const found = profile === 'natural' ? "'natural' is not available yet" : `${String(profile)} is unknown`
  throw new PocketTtsError('invalid-option', `textProfile: ${found}; use 'reference'`)
}
