import { PocketTtsError } from './errors.ts'

/** What the options of every long call may hold, before anybody has looked at it. */
interface CallOptions {
  readonly signal?: unknown
  readonly onProgress?: unknown
  readonly onWarning?: unknown
}

/** Throws PocketTtsError `invalid-option` for options that are no object, a signal or a callback that is none. */
export const checkCallOptions = (options: CallOptions): void => {
  if (typeof options !== 'object' || options === null) throw invalidOption('options', options, 'an object')
  const { signal, onProgress, onWarning } = options
  if (signal !== undefined && !isSignal(signal)) throw invalidOption('signal', signal, 'an AbortSignal')
  checkCallback('onProgress', onProgress)
  checkCallback('onWarning', onWarning)
}

export const invalidOption = (name: string, value: unknown, expected: string): PocketTtsError => {
  const isPlain = value === null || typeof value === 'number' || typeof value === 'string'
  const found = isPlain ? String(value) : `of type ${typeof value}`
  return new PocketTtsError('invalid-option', `${name} is ${found}; it must be ${expected}`)
}

/** By its members: the frames of a page have an AbortSignal each. */
const isSignal = (signal: unknown): boolean =>
  typeof signal === 'object' &&
  signal !== null &&
  'throwIfAborted' in signal &&
  typeof signal.throwIfAborted === 'function'

const checkCallback = (name: string, value: unknown): void => {
  if (value !== undefined && typeof value !== 'function') throw invalidOption(name, value, 'a function')
}
