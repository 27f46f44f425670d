import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { PocketTtsError, type SpeechEngine, type Voice } from '@pocket/tts'
import { contentTypes } from '../encoders/formats.ts'
import { ApiError, badRequest } from '../http/api-error.ts'
import { limitBody } from '../http/body-size.ts'
import type { Environment } from '../http/environment.ts'
import { speechLog } from '../http/speech-log.ts'
import { isLost } from '../speech/speech-service.ts'
import type { RouteContext } from './context.ts'
import { audioBody, errorResponses, text } from './schemas.ts'
import { requireVoice, streamHeaders } from './speech.ts'
import { type Allowed, fetchAllowed } from './voice-file.ts'

/** Everything around the recording and the text. */
const otherBytes = 16 * 1024

/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const bytesPerCharacter = 3

const form = (maxText: number, maxUpload: number) =>
  z
    .strictObject({
      text: text(maxText),
      voice_url: z.string().optional().openapi({
        description:
          'A voice of `/v1/audio/voices`, or an alias. A URL of a voice file only where the server allows it.',
      }),
      voice_wav: z
        .instanceof(File, { error: 'must be a file' })
        .refine(({ size }) => size <= maxUpload, { error: `must be at most ${maxUpload} bytes` })
        .optional()
        .openapi({ type: 'string', format: 'binary', description: 'A recording of somebody to speak like.' }),
    })
    .openapi('TtsForm')

/** `POST /tts`, as the Python reference's own server takes it. */
export const ttsRoutes = ({ config, engine, service, voices }: RouteContext) => {
  const { maxText, maxUpload } = config
  const route = createRoute({
    method: 'post',
    path: '/tts',
    summary: 'Speak a text like the server of the Python reference',
    description: 'A WAV stream of unknown length: mono, 24 kHz, 16 bits.',
    middleware: limitBody(maxUpload + maxText * bytesPerCharacter + otherBytes),
    request: {
      body: {
        required: true,
        content: { 'multipart/form-data': { schema: form(maxText, maxUpload) } },
      },
    },
    responses: {
      200: { description: 'Speech.', content: { 'audio/wav': { schema: audioBody } } },
      ...errorResponses(400, 401, 403, 413, 415, 429, 500, 503),
    },
  })
  return new OpenAPIHono<Environment>().openapi(route, async (c) => {
    const { text: input, voice_url: url, voice_wav: recording } = c.req.valid('form')
    if (url !== undefined && recording !== undefined) {
      throw badRequest('give voice_url or voice_wav, not both', 'invalid_value', 'voice_url')
    }
    const bytes = recording && new Uint8Array(await recording.arrayBuffer())
    const voice = bytes ? cloned(bytes, engine) : named(url ?? voices.default)
    const label = typeof voice === 'string' ? voice : undefined
    const { body } = await service.speak(
      { text: input, voice, format: 'wav' },
      c.get('callerLeft'),
      speechLog(c, { format: 'wav', voice: label, characters: input.length }),
    )
    return c.body(body, 200, streamHeaders(contentTypes.wav))
  })

  function named(name: string | undefined) {
    if (name === undefined || !isUrl(name)) return name && requireVoice(name, voices, 'voice_url')
    return fetched(name, config.voiceUrl, engine)
  }
}

const isUrl = (text: string): boolean => /^[a-z][a-z+.-]*:/i.test(text)

/** A voice file from elsewhere, where the owner of the server trusts that place. */
const fetched = (url: string, allowed: readonly string[], engine: SpeechEngine) => {
  // Normalised first: a path may lead out of its prefix by dots.
  const href = URL.canParse(url) ? new URL(url).href : url
  const isAllowed: Allowed = (place) => allowed.some((prefix) => place.startsWith(prefix))
  if (!isAllowed(href)) {
    throw badRequest(
      'this server fetches no voices from there; upload a recording as voice_wav, or start the server with --voice-url',
      'voice_url_not_allowed',
      'voice_url',
    )
  }
  return async (signal: AbortSignal): Promise<Voice> => {
    try {
      // The hub's client follows redirects by rules of its own.
      const source = href.startsWith('hf:') ? href : await fetchAllowed(href, isAllowed, signal)
      return await engine.loadVoice(source, { signal })
    } catch (error) {
      if (!(error instanceof PocketTtsError) || isLost(error)) throw error
      throw badRequest(`the voice cannot be loaded: ${error.code}`, 'invalid_voice', 'voice_url')
    }
  }
}

const cloned = (recording: Uint8Array, engine: SpeechEngine) => {
  if (!engine.canCloneVoices) {
    throw badRequest(
      'this model cannot clone voices; name one of its own',
      'cloning_unsupported',
      'voice_wav',
    )
  }
  return async (signal: AbortSignal): Promise<Voice> => {
    try {
      return await engine.cloneVoice(recording, { signal })
    } catch (error) {
      if (!(error instanceof PocketTtsError && error.code === 'invalid-audio')) throw error
      throw new ApiError(error.message, { status: 415, code: 'unsupported_audio', param: 'voice_wav' })
    }
  }
}
