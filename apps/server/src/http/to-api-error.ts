import { PocketTtsError } from '@pocket/tts'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import { QueueFullError } from '../speech/work-queue.ts'
import { ApiError, badRequest } from './api-error.ts'

/** What to tell the sender of a request that ended with this error. Everything unforeseen is a 500 without details. */
export const toApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  if (error instanceof QueueFullError) return queueFull(error)
  if (error instanceof PocketTtsError) return engineError(error)
  if (error instanceof HTTPException) return httpError(error)
  return internal()
}

const internal = (): ApiError =>
  new ApiError('something went wrong here; the log of the server knows more', {
    status: 500,
    code: 'internal_error',
  })

const queueFull = ({ message, retryAfter }: QueueFullError): ApiError =>
  new ApiError(message, {
    status: 429,
    code: 'rate_limit_exceeded',
    headers: { 'retry-after': String(retryAfter) },
  })

/** The engine checks what only it can know. Its messages never hold what a caller may not see. */
const engineError = ({ code, message }: PocketTtsError): ApiError => {
  switch (code) {
    case 'empty-text':
      return badRequest('the text holds nothing to say; write at least one word', 'empty_text')
    case 'too-long':
      return badRequest(message, 'text_too_long')
    case 'unknown-voice':
      return badRequest('no voice is named and the model has no default; name one', 'unknown_voice', 'voice')
    case 'invalid-option':
    case 'unsupported':
      return badRequest(message, 'invalid_value')
    case 'gpu-lost':
      return new ApiError('the GPU was lost while it spoke; try again', { status: 503, code: 'gpu_lost' })
    case 'disposed':
    case 'worker-failed':
      return new ApiError('the speech engine has stopped; try again later', {
        status: 503,
        code: 'engine_stopped',
      })
    default:
      return internal()
  }
}

/** Thrown by Hono for bodies that cannot be parsed. */
const httpError = ({ status, message }: HTTPException): ApiError => {
  if (status === 415) {
    return new ApiError(
      'the Content-Type is not one that this endpoint reads: JSON endpoints take application/json, /tts takes multipart/form-data; see /openapi.json',
      {
        status,
        code: 'unsupported_media_type',
      },
    )
  }
  return new ApiError(message || 'the request cannot be read', {
    status: status === 413 || status === 403 ? status : 400,
    code: 'invalid_body',
  })
}

const codes: Readonly<Record<string, string>> = {
  invalid_type: 'invalid_type',
  too_big: 'above_maximum',
  too_small: 'below_minimum',
  unrecognized_keys: 'unknown_parameter',
}

/** The first thing that a schema found wrong with a body. */
export const validationError = (error: z.ZodError): ApiError => {
  const issue = error.issues[0]!
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => [...issue.path, key].join('.'))
    const message = `unknown: ${names.join(', ')}; leave it out, since it would do nothing`
    return badRequest(message, 'unknown_parameter', names[0])
  }
  const param = issue.path.join('.')
  const isMissing = issue.message.endsWith('received undefined')
  if (isMissing && param !== '') return badRequest(`'${param}' is missing`, 'missing_parameter', param)
  const message = param === '' ? issue.message : `'${param}': ${issue.message}`
  return badRequest(message, codes[issue.code] ?? 'invalid_value', param || undefined)
}
