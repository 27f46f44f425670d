import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import type { OpenAPIHono } from '@hono/zod-openapi'
import manifest from '../../package.json' with { type: 'json' }
import type { Environment } from '../http/environment.ts'
import { docsPage } from './docs-page.ts'
import { ownPage } from './page.ts'

const info = {
  openapi: '3.1.0',
  info: { title: 'Pocket', version: manifest.version, description: 'Text in, speech out.' },
}

const bearer = { type: 'http', scheme: 'bearer' } as const

/** `GET /openapi.json`, made of the routes' own schemas, and `GET /docs`, the same for people. */
export const addDocs = (app: OpenAPIHono<Environment>, needsKey: boolean): void => {
  if (needsKey) app.openAPIRegistry.registerComponent('securitySchemes', 'key', bearer)
  const document = app.getOpenAPI31Document({ ...info, ...(needsKey && { security: [{ key: [] }] }) })
  const page = docsPage(document)
  app.get('/openapi.json', (c) => c.json(document))
  app.get('/docs', (c) => c.html(page))
  app.get('/docs.css', serveStatic({ path: join(ownPage(), 'style.css') }))
}
