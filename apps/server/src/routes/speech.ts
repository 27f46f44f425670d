import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { contentTypes, formats } from '../encoders/formats.ts'
import { speechEvents } from '../encoders/speech-events.ts'
import { badRequest } from '../http/api-error.ts'
import { limitBody } from '../http/body-size.ts'
import type { Environment } from '../http/environment.ts'
import { speechLog } from '../http/speech-log.ts'
import type { VoiceNames } from '../speech/voices.ts'
import { requireModel } from './catalogue.ts'
import type { RouteContext } from './context.ts'
import { audioBody, errorResponses, seed, temperature, text } from './schemas.ts'

/** JSON may write any character as an escape of six bytes. */
const bytesPerCharacter = 6

/** Everything around the text. */
const otherBytes = 16 * 1024

const requestBody = (maxText: number) =>
  z
    .strictObject({
      model: z.string().openapi({ description: 'An id of `/v1/models`.', example: 'tts-1' }),
      input: text(maxText),
      voice: z
        .union([z.string(), z.strictObject({ id: z.string() })], {
          error: ({ input }) =>
            input === undefined
              ? 'expected a voice, received undefined'
              : "must be a voice's name, or { id } with one",
        })
        .openapi({ description: 'A voice of `/v1/audio/voices`, or an alias of one.', example: 'alloy' }),
      response_format: z
        .enum(formats)
        .default('mp3')
        .openapi({ description: '`opus` is in Ogg, `aac` in ADTS; `pcm` is 16-bit, little-endian.' }),
      speed: z
        .number()
        .min(0.25)
        .max(4)
        .refine((speed) => speed === 1, {
          error: 'this model speaks at its own speed; use 1, or leave it out',
        })
        .default(1)
        .openapi({ description: 'Only 1: another speed is refused rather than ignored.' }),
      instructions: z
        .string()
        .max(0, { error: 'this model takes no instructions; leave it out' })
        .optional()
        .openapi({ description: 'Refused rather than ignored.' }),
      stream_format: z
        .enum(['audio', 'sse'])
        .default('audio')
        .openapi({ description: '`sse`: events with base64 in `audio`, as bytes become ready.' }),
      seed: seed.optional(),
      temperature: temperature.optional(),
    })
    .openapi('SpeechRequest')

const audioContent = Object.fromEntries(
  formats.map((format) => [contentTypes[format], { schema: audioBody }]),
)

/** `POST /v1/audio/speech`, as clients of OpenAI's API call it. */
export const speechRoutes = ({ config, engine, service, voices }: RouteContext) => {
  const route = createRoute({
    method: 'post',
    path: '/v1/audio/speech',
    summary: 'Speak a text',
    description: 'Sound streams from the first 80 ms on. It is mono, 24 kHz; lossless formats have 16 bits.',
    middleware: limitBody(config.maxText * bytesPerCharacter + otherBytes),
    request: {
      body: { required: true, content: { 'application/json': { schema: requestBody(config.maxText) } } },
    },
    responses: {
      200: {
        description: 'Speech.',
        content: { ...audioContent, 'text/event-stream': { schema: z.string() } },
      },
      ...errorResponses(400, 401, 403, 413, 415, 429, 500, 503),
    },
  })
  return new OpenAPIHono<Environment>().openapi(route, async (c) => {
    const request = c.req.valid('json')
    requireModel(request.model, engine)
    const voice = requireVoice(typeof request.voice === 'string' ? request.voice : request.voice.id, voices)
    const { input, response_format: format } = request
    const { body, frames } = await service.speak(
      { text: input, voice, format, seed: request.seed, temperature: request.temperature },
      c.get('callerLeft'),
      speechLog(c, { format, voice, characters: input.length }),
    )
    if (request.stream_format === 'audio') return c.body(body, 200, streamHeaders(contentTypes[format]))
    const usage = () => usageOf(input.length, frames())
    return c.body(body.pipeThrough(speechEvents(usage)), 200, streamHeaders('text/event-stream'))
  })
}

/** Nothing between here and the listener may keep or hold back what was made for them. */
export const streamHeaders = (contentType: string): Record<string, string> => ({
  'content-type': contentType,
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
})

const usageOf = (characters: number, frames: number) => ({
  input_tokens: characters,
  output_tokens: frames,
  total_tokens: characters + frames,
})

/** Throws ApiError where callers may not use that name. */
export const requireVoice = (name: string, voices: VoiceNames, param = 'voice'): string => {
  const voice = voices.find(name)
  if (voice !== undefined) return voice
  throw badRequest(`there is no voice of that name; there are ${voices.describe()}`, 'unknown_voice', param)
}
