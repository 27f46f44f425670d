import { KernelError } from '@pocket/nn'

export type PocketTtsErrorCode =
  /** A text that holds nothing to say. */
  | 'empty-text'
  /** An option out of its range, or of the wrong kind. */
  | 'invalid-option'
  /** No checkpoint of that id; the message names the nearest one. */
  | 'unknown-model'
  /** No voice of that name; the message lists the known ones. */
  | 'unknown-voice'
  /** A voice file that cannot be read, or that belongs to another model. */
  | 'invalid-voice'
  /** A model folder, file or configuration that is missing, malformed or contradicts itself. */
  | 'invalid-model'
  /** A file or URL that cannot be opened. */
  | 'not-found'
  /** A repository of the hub that refuses; the message says where access is granted. */
  | 'access-denied'
  /** A file that is not in the cache while downloads are switched off. */
  | 'offline'
  /** A server that cannot be reached, gives up midway, or sends something else than it announced. */
  | 'download-failed'
  /** A file that arrived whole but is not the file that the hub describes. It is not kept. */
  | 'checksum-mismatch'
  /** A cache that cannot be written: no space, no permission. */
  | 'cache-failed'
  /** Audio that cannot be decoded or cloned from. */
  | 'invalid-audio'
  /** The loaded weights cannot do what was asked (cloning without an encoder). */
  | 'unsupported'
  /** An utterance longer than the positions reserved for it. */
  | 'too-long'
  /** A GPU was asked for, and there is none that WebGPU can use; the message says what is missing. */
  | 'gpu-unavailable'
  /** A GPU whose frames are not those of the CPU: it, or its driver, computes wrongly. */
  | 'gpu-refused'
  /** The GPU went away (driver update, crash, sleep) and did not come back, or went again. The next call opens it anew. */
  | 'gpu-lost'
  /** A worker, or a thread of the kernels, that cannot start or that has ended by itself. Load the model again. */
  | 'worker-failed'
  /** An audio file that cannot be written; `cause` holds the system's error. */
  | 'write-failed'
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

/** What befell an executor under way, as this package tells it; any other error as it is. */
export const asSpeechError = (error: unknown): unknown => {
  if (!(error instanceof KernelError)) return error
  switch (error.code) {
    case 'device-lost':
      return gpuLost(error)
    case 'thread-failed': {
      const message = 'a thread of the CPU kernels has ended by itself: load the model again'
      return new PocketTtsError('worker-failed', message, { cause: error })
    }
    default:
      return error
  }
}

/** @param cause the loss itself, where it came again, or why there is no other GPU */
export const gpuLost = (cause: unknown): PocketTtsError => {
  const isLoss = cause instanceof KernelError && cause.code === 'device-lost'
  const what = isLoss
    ? 'and went again as soon as it was back'
    : `and cannot be had again: ${messageOf(cause)}`
  return new PocketTtsError(
    'gpu-lost',
    `the GPU went away ${what}. Speak again to open it anew, or load the model with backend 'cpu'`,
    { cause },
  )
}

/** Whatever was thrown, in its own words. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)
