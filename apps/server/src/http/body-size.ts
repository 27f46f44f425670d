import { bodyLimit } from 'hono/body-limit'
import { ApiError } from './api-error.ts'

/** Refuses bodies beyond so many bytes, announced or not, before more of them is kept. */
export const limitBody = (maxSize: number) =>
  bodyLimit({
    maxSize,
    onError: () => {
      throw new ApiError(`the body is larger than ${maxSize} bytes; send less`, {
        status: 413,
        code: 'body_too_large',
      })
    },
  })
