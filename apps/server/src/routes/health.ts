import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Environment } from '../http/environment.ts'
import type { RouteContext } from './context.ts'

const health = z
  .object({
    status: z.enum(['healthy', 'draining', 'failed']),
    model: z.string(),
    running: z.int().openapi({ description: 'Requests that are being spoken.' }),
    waiting: z.int().openapi({ description: 'Requests that wait for their turn.' }),
  })
  .openapi('Health')

const content = { 'application/json': { schema: health } }

const route = createRoute({
  method: 'get',
  path: '/health',
  summary: 'Whether requests are taken, and how many there are',
  responses: {
    200: { description: 'They are.', content },
    503: { description: 'They are not: the server is about to stop, or its engine has.', content },
  },
})

/** `GET /health`, which needs no key. */
export const healthRoutes = ({ engine, queue, state }: RouteContext) =>
  new OpenAPIHono<Environment>().openapi(route, (c) => {
    const status = state()
    const { running, waiting } = queue
    const body = { status, model: engine.config.modelId, running, waiting }
    return c.json(body, status === 'healthy' ? 200 : 503)
  })
