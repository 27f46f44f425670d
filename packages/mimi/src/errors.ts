export type MimiErrorCode =
  /** The checkpoint lacks a tensor that the codec needs. */
  | 'missing-tensor'
  /** A tensor's shape does not fit the others, or no Mimi at all. */
  | 'wrong-shape'
  /** A tensor holds something else than floating-point numbers. */
  | 'wrong-dtype'
  /** A stated setting is out of range, or there is no such setting. */
  | 'invalid-config'
  /** A stated setting contradicts the shapes of the tensors. */
  | 'contradiction'
  /** Latents or samples of the wrong type or length, or values that are not finite. */
  | 'invalid-input'
  /** Nothing to encode. */
  | 'empty-input'
  /** The checkpoint has no encoder, or one of zeros. */
  | 'no-encoder'
  /** There is no tap of that name. */
  | 'unknown-tap'
  /** A tap was read before the first frame. */
  | 'no-frame'
  /** A decoder or encoder was used after `dispose`. */
  | 'disposed'

/** What this package throws; what an executor runs into (out of memory) stays a KernelError. */
export class MimiError extends Error {
  override readonly name = 'MimiError'
  readonly code: MimiErrorCode

  constructor(code: MimiErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
