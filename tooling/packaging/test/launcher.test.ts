import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import ts from 'typescript'
import { describe, expect, inject, it } from 'vitest'
import { outcomeOf } from '../src/processes.ts'
import { installed } from '../src/projects.ts'
import { programs } from '../src/published.ts'

const project = inject('programsProject')

/** Has Node say that it is another version, before it runs anything. */
const pretending = (version: string): string[] => {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
}

describe.each(programs)('the launcher of $name', ({ name, manifest }) => {
  const [[command = '', target = ''] = []] = Object.entries(manifest.bin ?? {})
  const launcher = join(installed(project, name), target)
  const launch = (...options: string[]) =>
    outcomeOf(process.execPath, [...options, launcher, '--version'], project)

  it('starts the program', async () => {
    expect(await launch()).toEqual({ code: 0, stdout: '0.0.0\n', stderr: '' })
  })

  it.each(['22.18.0', '22.19.1', '23.0.0', '100.0.0'])('starts it on Node %s', async (version) => {
    expect(await launch(...pretending(version))).toMatchObject({ code: 0, stderr: '' })
  })

  it.each(['22.17.9', '20.20.2', '9.11.2', '0.12.18'])('says that Node %s is too old', async (version) => {
    expect(await launch(...pretending(version))).toEqual({
      code: 1,
      stdout: '',
      stderr: `${command}: it needs Node 22.18 or newer, and this is ${version}; get one from https://nodejs.org\n`,
    })
  })

  it('holds nothing that an old Node could not read', () => {
    const source = readFileSync(launcher, 'utf8')
    const compiledFor = (target: ts.ScriptTarget) =>
      ts.transpileModule(source, { compilerOptions: { target, allowJs: true }, fileName: 'launch.cjs' })
        .outputText
    expect(compiledFor(ts.ScriptTarget.ES5)).toBe(compiledFor(ts.ScriptTarget.ESNext))
    expect(source).not.toMatch(/,\s*\)/)
  })
})
