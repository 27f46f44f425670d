import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { bundleForBrowser, exportsOf, forbiddenGlobals, marks, sizeRow } from '../src/browser-bundle.ts'
import { runNode } from '../src/processes.ts'
import { libraries } from '../src/published.ts'
import { buildAndRunPage, type ViteApp } from '../src/vite-app.ts'

const project = inject('esmProject')

/** How a WebAssembly module begins, in base64: "\0asm" and version 1. */
const kernels = 'AGFzbQEAAAA'

const sizes: string[] = []

describe('the bundler', () => {
  const bundle = (code: string) => bundleForBrowser(code, project, marks)

  it('finds forbidden globals, and neither properties nor local variables of their names', async () => {
    const code = 'const log = ({ eval: require }) => [require, x.process, process.env, eval("1")]; log(y)'
    expect(forbiddenGlobals(await bundle(code))).toEqual(['process', 'eval'])
  })

  it('refuses node: modules', async () => {
    await expect(bundle("export * from '@pocket/safetensors/node'")).rejects.toThrow(
      'Could not resolve "node:fs/promises"',
    )
  })
})

describe.each(libraries)('$name, bundled for browsers', ({ name }) => {
  const program = `export * from '${name}'`

  it('needs no node: module, and no global that browsers lack or policies forbid', async () => {
    expect(forbiddenGlobals(await bundleForBrowser(program, project, marks))).toEqual([])
  })

  it('exports the same, and keeps the names of its errors', async () => {
    const code = await bundleForBrowser(program, project)
    sizes.push(sizeRow(name, code))
    const exported = await exportsOf(code, project)
    expect(Object.keys(exported).sort()).toEqual(Object.keys(await import(name)).sort())
    const errors = Object.keys(exported).filter((key) => key.endsWith('Error'))
    const names = errors.map((key) => new (exported[key] as new (code: string) => Error)('').name)
    expect(names).toEqual(errors)
  })
})

describe('a program that uses little of @pocket/tts', () => {
  it.each([
    ['loadInWorker', 64],
    ['encodeWav', 4],
  ])('gets %s without kernels or networks, in fewer than %i KiB', async (name, most) => {
    const code = await bundleForBrowser(`export { ${name} } from '@pocket/tts'`, project)
    expect(code).not.toContain(kernels)
    expect(code.length / 1024).toBeLessThan(most)
    sizes.push(sizeRow(name, code))
  })
})

afterAll(() => {
  console.log(
    ['| entry, with all that it imports | minified | gzip |', '| --- | --- | --- |', ...sizes].join('\n'),
  )
})

describe('a page built with Vite', () => {
  let page: ViteApp
  beforeAll(async () => {
    page = await buildAndRunPage(project)
  }, 120_000)

  it('builds without a warning, for browsers alone', () => {
    expect(page.warnings).toEqual([])
    expect(page.code.match(/["'`]node:|__vite-browser-external/)).toBeNull()
    expect(forbiddenGlobals(page.code)).toEqual([])
  })

  it('carries the kernels within its script, and the model as files', () => {
    expect(page.code.includes(kernels)).toBe(true)
    const kinds = new Set(page.files.map((file) => file.split('.').at(-1)))
    expect(kinds).toEqual(new Set(['html', 'js', 'model', 'safetensors']))
  })

  it('speaks as the packages do in Node', async () => {
    expect(page.output).toBe(await runNode(['speak.mjs'], project))
  })
})
