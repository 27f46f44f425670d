import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { packageProblems } from '../src/lint-package.ts'
import { typeProblems } from '../src/lint-types.ts'
import { filesBelow, installed } from '../src/projects.ts'
import { libraries, programs, published, readManifest, root } from '../src/published.ts'

const projectOf = (name: string): string =>
  inject(programs.some((program) => program.name === name) ? 'programsProject' : 'esmProject')
const folderOf = (name: string): string => installed(projectOf(name), name)
const tarballOf = (name: string): string => inject('tarballs')[name]!

/** The paths at the ends of a map of conditions. */
const targetsOf = (node: unknown): string[] => {
  if (typeof node === 'string') return [node]
  return typeof node === 'object' && node ? Object.values(node).flatMap(targetsOf) : []
}

it('finds libraries and programs', () => {
  expect(libraries.map(({ name }) => name)).toContain('@pocket/tts')
  expect(programs.map(({ name }) => name)).toContain('@pocket/cli')
})

describe.each(published)('the tarball of $name', ({ name }) => {
  const folder = folderOf(name)
  const files = filesBelow(folder)
  const manifest = readManifest(folder)
  const scripts = files.filter((file) => /^dist\/.*\.js$/.test(file))

  it('satisfies publint', async () => {
    expect(await packageProblems(tarballOf(name))).toEqual([])
  })

  it('holds a README, the licence and built modules, and nothing of development', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']))
    expect(scripts).not.toEqual([])
    expect(
      files.filter((file) => /(^|\/)(test|bench|examples|node_modules)\/|^[^/]*config\b/.test(file)),
    ).toEqual([])
  })

  it('says on which Node it runs and where its dependencies come from', () => {
    expect(manifest.type).toBe('module')
    expect(manifest.engines?.node).toMatch(/^>=\d+\.\d+$/)
    expect(Object.values(manifest.dependencies ?? {}).filter((range) => !/^[\^~]?\d/.test(range))).toEqual([])
  })

  it('holds every file that its manifest names', () => {
    const { exports, imports, bin } = manifest
    const targets = targetsOf({ exports, imports, bin }).filter((target) => !target.includes('*'))
    expect(targets).not.toEqual([])
    expect(targets.filter((target) => !existsSync(join(folder, target)))).toEqual([])
  })

  it('holds no path of the machine that built it', () => {
    expect(files.filter((file) => readFileSync(join(folder, file)).includes(root.slice(0, -1)))).toEqual([])
  })

  it('has source maps that need no other file', () => {
    const maps = files.filter((file) => file.endsWith('.js.map'))
    expect(maps).not.toEqual([])
    for (const map of maps) {
      const { sources, sourcesContent } = JSON.parse(readFileSync(join(folder, map), 'utf8'))
      expect(sources.filter(isAbsolute), map).toEqual([])
      expect(sourcesContent, map).toEqual(sources.map(() => expect.any(String)))
    }
  })
})

describe.each(published.filter(({ entries }) => entries.length > 0))('the types of $name', ({ name }) => {
  it('are right for every entry', async () => {
    expect(await typeProblems(tarballOf(name))).toEqual([])
  })
})

describe.each(libraries)('the library $name', ({ name, entries }) => {
  const manifest = readManifest(folderOf(name))

  it('has a main entry', () => {
    expect(entries).toContain(name)
  })

  it('may be left out by bundlers where it is not used', () => {
    expect(manifest.sideEffects).toBe(false)
  })

  it('has a README that begins with its name and shows a whole program', () => {
    const readme = readFileSync(join(folderOf(name), 'README.md'), 'utf8')
    expect(readme).toMatch(new RegExp(`^# ${name}\n`))
    expect(readme).toContain(`npm install ${name}`)
    expect(readme).toMatch(/^```ts\n(?:(?!```)[\s\S])*^import /m)
  })
})
