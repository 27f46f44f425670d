export type KernelErrorCode =
  /** A level, feature or precision asked for by name is not there on this machine. */
  | 'unavailable'
  /** Shapes that do not fit together, found while a plan is recorded or a weight is made. */
  | 'shape'
  /** A name that a plan does not know: an input or a tap. */
  | 'unknown-name'
  /** More positions than a KV cache was made for. */
  | 'capacity'
  /** Memory could not be had. */
  | 'out-of-memory'
  /** The device that an executor ran on is gone: another program, a driver or a user took it away. */
  | 'device-lost'
  /** Used after `dispose`. */
  | 'disposed'
  /** A thread of an executor has ended by itself, and its work with it: make another executor. */
  | 'thread-failed'
  /** The start-up self-test of an executor gave a wrong number. */
  | 'self-test'

/** What goes wrong below the networks: in recording a plan, making weights or running kernels. */
export class KernelError extends Error {
  override readonly name = 'KernelError'
  readonly code: KernelErrorCode

  constructor(code: KernelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
