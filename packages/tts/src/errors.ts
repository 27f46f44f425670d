export type PocketTtsErrorCode =
  /** A text that holds nothing to say. */
  | 'empty-text'
  /** An option out of its range, or of the wrong kind. */
  | 'invalid-option'
  /** No voice of that name; the message lists the known ones. */
  | 'unknown-voice'
  /** A voice file that cannot be read, or that belongs to another model. */
  | 'invalid-voice'
  /** A model folder, file or configuration that is missing, malformed or contradicts itself. */
  | 'invalid-model'
  /** A file or URL that cannot be opened. */
  | 'not-found'
  /** Audio that cannot be decoded or cloned from. */
  | 'invalid-audio'
  /** The loaded weights cannot do what was asked (cloning without an encoder). */
  | 'unsupported'
  /** An utterance longer than the positions reserved for it. */
  | 'too-long'
  /** Used after `dispose`. */
  | 'disposed'

/** What goes wrong between a caller and the networks. Thrown before any work where the input is at fault. */
export class PocketTtsError extends Error {
  override readonly name = 'PocketTtsError'
  readonly code: PocketTtsErrorCode

  constructor(code: PocketTtsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
