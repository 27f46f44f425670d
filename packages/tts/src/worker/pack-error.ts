import { FlowLmError } from '@pocket/flowlm'
import { MimiError } from '@pocket/mimi'
import { KernelError } from '@pocket/nn'
import { SafeTensorsError } from '@pocket/safetensors'
import { SentencePieceError } from '@pocket/sentencepiece'
import { PocketTtsError } from '../errors.ts'

/** An error as data: a message between threads would lose its class and `code`. */
export interface PackedError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly code: string | undefined
  readonly cause: PackedError | undefined
}

/** Stands in the worker for an error that only the caller has: why it aborted, or what its text or noise threw. */
export class CallerError extends Error {
  override readonly name = 'CallerError'

  constructor() {
    super('the caller knows why')
  }
}

type ErrorClass = new (message: string, options?: ErrorOptions) => Error
type CodedErrorClass = new (code: never, message: string, options?: ErrorOptions) => Error

const coded: Readonly<Record<string, CodedErrorClass>> = {
  FlowLmError,
  KernelError,
  MimiError,
  PocketTtsError,
  SafeTensorsError,
  SentencePieceError,
}

const builtIn: Readonly<Record<string, ErrorClass>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
}

/** Causes further down than this tell nobody more; and a chain may be a circle. */
const deepestCause = 8

export const packError = (thrown: unknown, depth = 0): PackedError => {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { name, message, stack, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const hasCause = cause !== undefined && depth < deepestCause
  return { name, message, stack, code, cause: hasCause ? packError(cause, depth + 1) : undefined }
}

/** The error again: of its own class where that is one of ours or built in, with the stack of where it was thrown. */
export const unpackError = ({ name, message, stack, code, cause }: PackedError): Error => {
  const error = create(name, code, message, cause && { cause: unpackError(cause) })
  if (stack !== undefined) error.stack = stack
  return error
}

const create = (name: string, code: string | undefined, message: string, options?: ErrorOptions): Error => {
  if (code !== undefined && Object.hasOwn(coded, name))
    return new coded[name]!(code as never, message, options)
  const error = new (Object.hasOwn(builtIn, name) ? builtIn[name]! : Error)(message, options)
  if (error.name !== name) error.name = name
  return code === undefined ? error : Object.assign(error, { code })
}
