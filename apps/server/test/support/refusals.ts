import { expect } from 'vitest'

/** An answer in the shape of OpenAI's errors; gives what it says. */
export const expectRefusal = async (response: Response, status: number) => {
  const body = (await response.json()) as { error: Record<string, unknown> }
  expect({ status: response.status, ...body }).toEqual({
    status,
    error: {
      message: expect.stringMatching(/\w+ \w+/),
      type: status >= 500 ? 'server_error' : 'invalid_request_error',
      param: body.error.param === null ? null : expect.stringMatching(/\w/),
      code: expect.stringMatching(/^[a-z_]+$/),
    },
  })
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  return body.error as { message: string; param: string | null; code: string }
}
