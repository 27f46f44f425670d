import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { closure, readWorkspace, root } from '../src/workspace.mjs'

let base: string
const add = (folder: string, manifest: object) => {
  mkdirSync(join(base, folder), { recursive: true })
  writeFileSync(join(base, folder, 'package.json'), JSON.stringify(manifest))
}
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'workspace-'))
})
afterEach(() => rmSync(base, { recursive: true }))

it('finds the packages of all groups, and no folder without a manifest', () => {
  add('packages/b', {
    name: 'b',
    scripts: { test: 't' },
    dependencies: { c: '1' },
    devDependencies: { d: '1' },
  })
  add('apps/a', { name: 'a' })
  mkdirSync(join(base, 'packages/empty'))
  expect(readWorkspace(base)).toEqual([
    { name: 'b', folder: join(base, 'packages/b'), scripts: { test: 't' }, dependencies: ['c', 'd'] },
    { name: 'a', folder: join(base, 'apps/a'), scripts: {}, dependencies: [] },
  ])
})

it('closes over dependencies, also where they go in circles', () => {
  add('packages/a', { name: 'a', dependencies: { b: '1', elsewhere: '1' } })
  add('packages/b', { name: 'b', devDependencies: { c: '1' } })
  add('packages/c', { name: 'c', devDependencies: { a: '1' } })
  add('packages/d', { name: 'd', dependencies: { a: '1' } })
  const names = closure(readWorkspace(base), 'a').map(({ name }) => name)
  expect(names).toEqual(['a', 'b', 'c'])
})

it('looks into the same groups as pnpm', () => {
  const groups = [...readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8').matchAll(/^ {2}- (\w+)\/\*$/gm)]
  const found = new Set(readWorkspace().map(({ folder }) => folder.slice(root.length).split(/[\\/]/)[0]))
  expect(found).toEqual(new Set(groups.map(([, group]) => group)))
})
