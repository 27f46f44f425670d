import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

type Conditions = Record<string, string>

interface Manifest {
  name: string
  description: string
  license: string
  type: string
  sideEffects: boolean
  engines: { node: string }
  files: string[]
  exports: Record<string, string | Conditions>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url))
const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))

describe.each(readdirSync(packages))('the manifest of %s', (name) => {
  const folder = join(packages, name)
  const manifest = manifestOf(name)
  const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target !== 'string')

  it('says what the package is', () => {
    expect(manifest).toMatchObject({
      name: `@pocket/${name}`,
      description: expect.stringMatching(/\w+ \w+/),
      license: 'MIT',
      type: 'module',
      sideEffects: false,
      engines: { node: '>=22.18' },
      files: expect.arrayContaining(['dist', 'src']),
    })
    expect(existsSync(join(folder, 'README.md'))).toBe(true)
  })

  it('exports a main entry and the manifest itself', () => {
    expect(manifest.exports).toHaveProperty(['.'])
    expect(manifest.exports['./package.json']).toBe('./package.json')
  })

  it.each(entries)('exports %s: sources first, then types, then what is built of them', (_entry, target) => {
    const conditions = target as Conditions
    expect(Object.keys(conditions)[0]).toBe('@pocket/source')
    expect(Object.keys(conditions).at(-1)).toBe('default')
    const { '@pocket/source': source = '', types, default: main } = conditions
    expect(existsSync(join(folder, source)), source).toBe(true)
    const built = source.replace('/src/', '/dist/').replace(/\.ts$/, '')
    expect({ types, main }).toEqual({ types: `${built}.d.ts`, main: `${built}.js` })
  })

  it('takes its siblings from this workspace', () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    const siblings = all.filter(([dependency]) => /^@(pocket|tooling)\//.test(dependency))
    expect(siblings.filter(([, version]) => version !== 'workspace:*')).toEqual([])
  })
})
