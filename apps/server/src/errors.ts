export type ServerErrorCode =
  /** An option out of its range, of the wrong kind, or unknown. */
  | 'invalid-option'
  /** The address cannot be listened on. */
  | 'cannot-listen'
  /** The engine's thread has ended by itself. */
  | 'engine-died'

/** Why a server cannot be started, or has ended. What goes wrong with a request is an `ApiError`, which its sender gets. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly code: ServerErrorCode

  constructor(code: ServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
