import { OpenAPIHono } from '@hono/zod-openapi'
import type { SpeechEngine } from '@pocket/tts'
import { requestId } from 'hono/request-id'
import { type Logger, pino } from 'pino'
import { parseOptions, type ServerOptions } from './config.ts'
import { allowOrigins, refuseForeignPages, requireKey } from './http/access.ts'
import { ApiError } from './http/api-error.ts'
import { watchCaller } from './http/caller.ts'
import type { Environment } from './http/environment.ts'
import { requestLog } from './http/request-log.ts'
import { describe } from './http/speech-log.ts'
import { toApiError, validationError } from './http/to-api-error.ts'
import { catalogueRoutes } from './routes/catalogue.ts'
import type { RouteContext } from './routes/context.ts'
import { addDocs } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { pageFolder, pageHeaders, servePage } from './routes/page.ts'
import { speechRoutes } from './routes/speech.ts'
import { ttsRoutes } from './routes/tts.ts'
import { SpeechService } from './speech/speech-service.ts'
import { VoiceNames } from './speech/voices.ts'
import { WorkQueue } from './speech/work-queue.ts'

/** The server without a socket: whatever can hand it a `Request` can serve it. */
export interface SpeechApp {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Refuses new requests with 503; those under way go on. */
  drain(): void
  /** Stops everything under way, within a frame. */
  stop(): void
  /** Settles when the engine has died; until then nothing comes of it. */
  readonly engineLost: Promise<unknown>
}

export interface AppHooks {
  /** Default: nothing is logged. */
  readonly log?: Logger
}

/**
 * All routes, on an engine that may be used by others as well and is not disposed of here. Options of the socket (`host`,
 * `port`) are ignored. Throws ServerError `invalid-option`.
 */
export const createApp = (
  engine: SpeechEngine,
  options: ServerOptions = {},
  hooks: AppHooks = {},
): SpeechApp => {
  const config = parseOptions(options)
  const queue = new WorkQueue(config.concurrency, config.queue)
  let reportLoss: (error: unknown) => void = () => {}
  const engineLost = new Promise<unknown>((resolve) => {
    reportLoss = resolve
  })
  let state: ReturnType<RouteContext['state']> = 'healthy'
  const service = new SpeechService(engine, queue, (error) => {
    state = 'failed'
    reportLoss(error)
  })
  const context: RouteContext = {
    config,
    engine,
    service,
    queue,
    voices: new VoiceNames(engine, config),
    state: () => state,
  }
  const app = assemble(context, hooks.log ?? pino({ enabled: false }))
  return {
    fetch: (request) => app.fetch(request),
    drain: () => {
      if (state === 'healthy') state = 'draining'
    },
    stop: () => service.stop(notNow()),
    engineLost,
  }
}

const assemble = (context: RouteContext, log: Logger): OpenAPIHono<Environment> => {
  const { config, state } = context
  const app = new OpenAPIHono<Environment>({
    defaultHook: (result) => {
      if (!result.success) throw validationError(result.error)
    },
  })
  app.use(requestId(), watchCaller(), requestLog(log))
  if (config.corsOrigin.length > 0) app.use(allowOrigins(config.corsOrigin))
  app.use(refuseForeignPages(config.corsOrigin), pageHeaders())
  for (const path of ['/v1/*', '/tts']) {
    app.use(path, async (_, next) => {
      if (state() !== 'healthy') throw notNow()
      await next()
    })
    if (config.apiKey !== undefined) app.use(path, requireKey(config.apiKey))
  }
  for (const routes of [speechRoutes, ttsRoutes, catalogueRoutes, healthRoutes])
    app.route('/', routes(context))
  addDocs(app, config.apiKey !== undefined)
  app.get('*', servePage(pageFolder(config.page)))
  app.notFound(({ req }) => {
    throw new ApiError(`there is no ${req.method} ${req.path}; see /docs`, { status: 404, code: 'not_found' })
  })
  app.onError((error, c) => {
    const answer = toApiError(error)
    if (answer.status === 500)
      c.get('log').error({ error: describe(error), stack: framesOf(error) }, 'unforeseen')
    return c.json(answer.toBody(), answer.status, answer.headers)
  })
  return app
}

const notNow = (): ApiError =>
  new ApiError('the server is about to stop; try again later', {
    status: 503,
    code: 'shutting_down',
    headers: { 'retry-after': '5' },
  })

/** Where an error came from, without its message, which may quote a text. */
const framesOf = ({ stack = '' }: Error): string[] =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim())
