import { z } from '@hono/zod-openapi'

/** How every error is told. */
const errorBody = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.enum(['invalid_request_error', 'server_error']),
      param: z.string().nullable().openapi({ description: 'The field that is at fault.' }),
      code: z.string().nullable(),
    }),
  })
  .openapi('Error')

const descriptions = {
  400: 'The request is at fault; `error.param` names the field.',
  401: 'The API key is missing or another.',
  403: 'Pages of that origin may not call this server.',
  413: 'The body is too large.',
  415: 'The body is of a kind that is not read here.',
  429: 'Every place in the queue is taken; `Retry-After` says when to come back.',
  500: 'Something went wrong in the server.',
  503: 'The server is about to stop.',
} as const

/** The error answers of a route, for its description. */
export const errorResponses = (...statuses: readonly (keyof typeof descriptions)[]) =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: descriptions[status], content: { 'application/json': { schema: errorBody } } },
    ]),
  )

/** Speech in bytes. */
export const audioBody = z.string().openapi({ type: 'string', format: 'binary' })

export const seed = z
  .int()
  .min(0)
  .openapi({ description: 'The same seed gives the same speech.', example: 1 })

export const temperature = z
  .number()
  .min(0)
  .max(2)
  .openapi({ description: 'More is livelier and less sure. Default: the model’s, usually 0.3.' })

/** What to say. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => value.trim() !== '', { error: 'must hold something to say' })
    .openapi({ description: 'What to say.', example: 'Hello.' })
