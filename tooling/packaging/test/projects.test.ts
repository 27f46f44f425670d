import { describe, expect, inject, it } from 'vitest'
import { run, runNode } from '../src/processes.ts'
import { entriesOf, libraries, programs } from '../src/published.ts'

const entries = entriesOf(libraries)
const esmProject = inject('esmProject')
const commonjsProject = inject('commonjsProject')
const programsProject = inject('programsProject')

/** What each entry exports to a project of ES modules. */
const importAll = async (project: string, names: readonly string[]): Promise<Record<string, string[]>> =>
  JSON.parse(await runNode(['import-all.mjs', ...names], project))

describe('a project of ES modules', () => {
  it('imports every entry, in silence', async () => {
    const names = await importAll(esmProject, entries)
    expect(Object.keys(names)).toEqual(entries)
    expect(Object.values(names).filter((exported) => exported.length === 0)).toEqual([])
  })

  it('speaks, also where no code may be made from strings', async () => {
    const output = JSON.parse(
      await runNode(['--disallow-code-generation-from-strings', 'speak.mjs'], esmProject),
    )
    expect(output.seconds).toBeGreaterThan(0.3)
    expect(output.peak).toBeGreaterThan(0.01)
  })
})

describe('a CommonJS project', () => {
  it('requires every entry, in silence, and gets the same', async () => {
    const names = JSON.parse(await runNode(['require-all.cjs', ...entries], commonjsProject))
    expect(names).toEqual(await importAll(esmProject, entries))
  })

  it('shares its classes with the ES modules of the same program', async () => {
    const program =
      "import('@pocket/tts').then(({ PocketTts }) => console.log(PocketTts === require('@pocket/tts').PocketTts))"
    expect(await runNode(['-e', program], commonjsProject)).toBe('true\n')
  })

  it('speaks as the project of ES modules does', async () => {
    expect(await runNode(['speak.cjs'], commonjsProject)).toBe(await runNode(['speak.mjs'], esmProject))
  })
})

describe('a project of programs', () => {
  const commands = programs.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}))

  it.each(commands)('has the command %s', async (command) => {
    const { stdout, stderr } = await run('npx', [command, '--help'], programsProject)
    expect(stdout).toContain(`Usage: ${command}`)
    expect(stderr).toBe('')
  })

  it('imports what programs export', async () => {
    const names = await importAll(programsProject, entriesOf(programs))
    expect(Object.values(names).filter((exported) => exported.length === 0)).toEqual([])
  })

  it('runs pocket on its embedded model', async () => {
    const { stdout } = await run('npx', ['pocket', 'voices'], programsProject)
    expect(stdout).toContain('rms')
  })
})
