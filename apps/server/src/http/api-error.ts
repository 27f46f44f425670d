import type { ContentfulStatusCode } from 'hono/utils/http-status'

export interface ApiErrorDetails {
  readonly status: ContentfulStatusCode
  /** What it is about in a word, as OpenAI's API has them: `invalid_value`, `unknown_parameter`… */
  readonly code: string
  /** The field of the request that is at fault. */
  readonly param?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** What is wrong with a request, in words for its sender. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: ContentfulStatusCode
  readonly code: string
  readonly param: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(message: string, { status, code, param, headers = {} }: ApiErrorDetails) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.headers = headers
  }

  /** The body that clients of OpenAI's API expect. */
  toBody(): ErrorBody {
    const type = this.status >= 500 ? 'server_error' : 'invalid_request_error'
    return { error: { message: this.message, type, param: this.param ?? null, code: this.code } }
  }
}

export interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: 'invalid_request_error' | 'server_error'
    readonly param: string | null
    readonly code: string
  }
}

/** A request whose content is at fault. */
export const badRequest = (message: string, code: string, param?: string): ApiError =>
  new ApiError(message, { status: 400, code, param })
