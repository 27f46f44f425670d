import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { SpeechEngine } from '@pocket/tts'
import { ApiError } from '../http/api-error.ts'
import type { Environment } from '../http/environment.ts'
import type { RouteContext } from './context.ts'
import { errorResponses } from './schemas.ts'

/** The models of OpenAI's API, in whose place the model speaks: programs have these names built in. */
const modelAliases = ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']

const modelList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        id: z.string(),
        object: z.literal('model'),
        created: z.int().openapi({ description: 'When the server started, in seconds since 1970.' }),
        owned_by: z.string(),
      }),
    ),
  })
  .openapi('Models')

const voiceList = z
  .object({
    default: z.string().nullable().openapi({ description: 'Who speaks when nobody is named.' }),
    voices: z.array(z.object({ id: z.string(), name: z.string(), aliases: z.array(z.string()) })),
  })
  .openapi('Voices')

const modelsRoute = createRoute({
  method: 'get',
  path: '/v1/models',
  summary: 'List the model, and the names that stand for it',
  responses: {
    200: { description: 'Models.', content: { 'application/json': { schema: modelList } } },
    ...errorResponses(401),
  },
})

const voicesRoute = createRoute({
  method: 'get',
  path: '/v1/audio/voices',
  summary: 'List the voices',
  responses: {
    200: { description: 'Voices.', content: { 'application/json': { schema: voiceList } } },
    ...errorResponses(401),
  },
})

/** `GET /v1/models` and `GET /v1/audio/voices`. */
export const catalogueRoutes = ({ engine, voices }: RouteContext) => {
  const created = Math.floor(Date.now() / 1000)
  return new OpenAPIHono<Environment>()
    .openapi(modelsRoute, (c) => {
      const ids = [engine.config.modelId, ...modelAliases]
      const data = ids.map((id) => ({ id, object: 'model' as const, created, owned_by: 'pocket' }))
      return c.json({ object: 'list' as const, data }, 200)
    })
    .openapi(voicesRoute, (c) => {
      const listed = voices.list().map(({ id, aliases }) => ({ id, name: id, aliases }))
      return c.json({ default: voices.default ?? null, voices: listed }, 200)
    })
}

/** Throws ApiError 404, as OpenAI's API does, for a model that is not here. */
export const requireModel = (name: string, { config }: Pick<SpeechEngine, 'config'>): void => {
  if (name === config.modelId || modelAliases.includes(name)) return
  throw new ApiError(
    `there is no model of that name here; use ${config.modelId}, or ${modelAliases.join(', ')}, which stand for it`,
    { status: 404, code: 'model_not_found', param: 'model' },
  )
}
