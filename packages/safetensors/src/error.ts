/** What went wrong, for programs. The message says the rest. */
export type SafeTensorsErrorCode =
  /** The bytes end before the header or the tensors do. */
  | 'truncated'
  /** The bytes are something else: an HTML page, a zip archive, a Git LFS pointer. */
  | 'not-safetensors'
  /** The header is longer than the 100 MB that the format allows, or has more than 262,144 members. */
  | 'header-too-large'
  /** The header is not UTF-8, not JSON, or not an object. */
  | 'invalid-header'
  /** A key occurs twice: two readers could see two different files. */
  | 'duplicate-key'
  /** `__metadata__` is not a map from strings to strings. */
  | 'invalid-metadata'
  /** A tensor's entry in the header, or a tensor handed to the writer, is malformed. */
  | 'invalid-tensor'
  | 'unknown-dtype'
  | 'invalid-shape'
  /** Negative, fractional, reversed or overlapping offsets, or a hole between two tensors. */
  | 'invalid-offsets'
  /** The bytes do not amount to shape × dtype. */
  | 'size-mismatch'
  /** Bytes after the last tensor. */
  | 'trailing-bytes'
  /** No tensor of that name. */
  | 'unknown-tensor'
  /** The tensor's dtype has no conversion of the kind asked for. */
  | 'unsupported-dtype'
  | 'invalid-argument'
  | 'out-of-memory'
  | 'file-not-found'
  /** A directory, a device, a pipe. */
  | 'not-a-file'
  /** The file or Blob could not be read; `cause` holds the system's error. */
  | 'read-failed'
  /** A tensor was asked of a reader that is closed. */
  | 'closed'

/** The one error this package throws. */
export class SafeTensorsError extends Error {
  override readonly name = 'SafeTensorsError'
  readonly code: SafeTensorsErrorCode

  constructor(code: SafeTensorsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** The same error, its message led by the place where it happened. */
  at(place: string): SafeTensorsError {
    return new SafeTensorsError(this.code, `${place}: ${this.message}`, { cause: this.cause ?? this })
  }
}

const longestQuote = 80

/** Text from a file, fit for a message: escaped, and cut where it is long. */
export const quote = (text: string): string =>
  text.length > longestQuote ? `${JSON.stringify(text.slice(0, longestQuote))}…` : JSON.stringify(text)
