import { constants } from 'node:buffer'
import { z } from 'zod'
import { ServerError } from './errors.ts'

const origin = z.union([
  z.literal('*'),
  z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
    error: "must be '*' or an origin such as https://example.com, with no path and no slash at the end",
  }),
])

/** Ends in a slash: https://good.example would also begin https://good.example.evil.org. */
const urlPrefix = z.string().refine((text) => /^(https?|hf):\/\/[^/]+\/(.*\/)?$/.test(text), {
  error: 'must be the beginning of a URL, up to a slash, such as hf://kyutai/pocket-tts/',
})

/** What a server may be told. Names are those of the command line's flags, in camel case. */
export const serverOptions = z.strictObject({
  /** The address to listen on. Anything but loopback lets others in. */
  host: z.string().min(1).default('127.0.0.1'),
  /** 0 takes any free port. */
  port: z.int().min(0).max(65_535).default(8000),
  /** Callers must send it as a bearer token. */
  apiKey: z.string().min(1).optional(),
  /** Web pages of these origins may call the server; its own page always may. */
  corsOrigin: z.array(origin).default([]),
  /** The voice of callers that name none; else the model's. */
  defaultVoice: z.string().min(1).optional(),
  /** Other names for voices, over the built-in ones. */
  voiceAlias: z.record(z.string().min(1), z.string().min(1)).default({}),
  /** Voice files may be fetched from URLs that begin like this. */
  voiceUrl: z.array(urlPrefix).default([]),
  /** Requests that are spoken at once, frame by frame in turn. */
  concurrency: z.int().min(1).max(256).default(4),
  /** Requests that may wait for their turn; the next one is refused with 429. */
  queue: z.int().min(0).max(10_000).default(32),
  /** Characters of a text. */
  maxText: z.int().min(1).max(1_000_000).default(4096),
  /** Bytes of an uploaded recording. */
  maxUpload: z
    .int()
    .min(1024)
    .max(constants.MAX_LENGTH)
    .default(16 * 1024 * 1024),
  /** A folder with a page to serve in place of the built-in one. */
  page: z.string().min(1).optional(),
})

export type ServerOptions = z.input<typeof serverOptions>
export type ServerConfig = z.output<typeof serverOptions>

/** Fills in defaults. Throws ServerError `invalid-option`, naming each option that is wrong. */
export const parseOptions = (options: ServerOptions): ServerConfig => {
  const result = serverOptions.safeParse(options)
  if (result.success) return result.data
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'options'}: ${message}`,
  )
  throw new ServerError('invalid-option', problems.join('; '))
}
