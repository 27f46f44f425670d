/**
 * What went wrong, for programs:
 *
 * - `malformed-file`: the bytes are not a SentencePiece model, or not a whole one;
 * - `unsupported-model`: a sound model of a kind that this package does not implement (BPE, charsmaps …);
 * - `invalid-model`: a whole model whose pieces make no sense (no `<unk>`, one piece twice …);
 * - `id-out-of-range`: an id that the vocabulary does not hold;
 * - `invalid-argument`: a value of the wrong type, from untyped code.
 */
export type SentencePieceErrorCode =
  | 'malformed-file'
  | 'unsupported-model'
  | 'invalid-model'
  | 'id-out-of-range'
  | 'invalid-argument'

/** The only error that this package throws. */
export class SentencePieceError extends Error {
  // A literal, because minifiers rename classes.
  override readonly name = 'SentencePieceError'
  readonly code: SentencePieceErrorCode

  constructor(code: SentencePieceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
