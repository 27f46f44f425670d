import type { OpenAPIHono } from '@hono/zod-openapi'
import { html, raw } from 'hono/html'
import type { Environment } from '../http/environment.ts'

type Document = ReturnType<OpenAPIHono<Environment>['getOpenAPI31Document']>

/** What is read of a schema; the rest of JSON Schema is for machines. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly description?: string
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

/** The OpenAPI document as one plain page: no script, nothing from elsewhere. */
export const docsPage = (document: Document) => {
  const schemas = (document.components?.schemas ?? {}) as Readonly<Record<string, Schema>>
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Readonly<Record<string, Operation>>).map(([method, operation]) =>
      operationSection(`${method.toUpperCase()} ${path}`, operation, schemas),
    ),
  )
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${document.info.title}: API</title>
        <link rel="stylesheet" href="docs.css" />
      </head>
      <body>
        <h1>${document.info.title}: API</h1>
        <p>For programs: <a href="openapi.json">openapi.json</a></p>
        ${operations}
      </body>
    </html>`
}

const operationSection = (
  title: string,
  { summary, description, requestBody, responses }: Operation,
  schemas: Readonly<Record<string, Schema>>,
) =>
  html`<section>
    <h2><code>${title}</code></h2>
    <p>${summary}. ${prose(description)}</p>
    ${Object.entries(requestBody?.content ?? {}).map(
      ([type, { schema }]) =>
        html`<h3>Body: <code>${type}</code></h3>${fieldTable(resolve(schema, schemas))}`,
    )}
    <h3>Answers</h3>
    <ul>
      ${Object.entries(responses).map(
        ([status, answer]) =>
          html`<li><code>${status}</code> ${prose(answer.description)} <i>${Object.keys(answer.content ?? {}).join(', ')}</i></li>`,
      )}
    </ul>
  </section>`

/** Descriptions have code between backticks, as Markdown has. */
const prose = (text = '') =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))

const resolve = (schema: Schema | undefined, schemas: Readonly<Record<string, Schema>>): Schema =>
  (schema?.$ref ? schemas[schema.$ref.split('/').at(-1)!] : schema) ?? {}

const fieldTable = ({ properties = {}, required = [] }: Schema) =>
  html`<table>
    ${Object.entries(properties).map(
      ([name, field]) =>
        html`<tr>
          <td><code>${name}</code>${required.includes(name) ? raw('&nbsp;*') : ''}</td>
          <td>${typeName(field)}${field.default === undefined ? '' : `, default ${String(field.default)}`}</td>
          <td>${prose(field.description)}</td>
        </tr>`,
    )}
  </table>`

const typeName = ({ type, format, enum: values, anyOf }: Schema): string => {
  if (values) return values.join(' | ')
  if (anyOf) return anyOf.map(typeName).join(' or ')
  return format === 'binary' ? 'file' : [type].flat().join(' or ')
}
