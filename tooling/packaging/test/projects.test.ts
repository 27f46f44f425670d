import { describe, expect, inject, it } from 'vitest'
import { run, runNode } from '../src/processes.ts'
import { libraries } from '../src/published.ts'

const entries = libraries.flatMap((library) => library.entries)
const esmProject = inject('esmProject')
const commonjsProject = inject('commonjsProject')

const importAll = async (): Promise<Record<string, string[]>> =>
  JSON.parse(await runNode(['import-all.mjs', ...entries], esmProject))

describe('a project of ES modules', () => {
  it('imports every entry, in silence', async () => {
    const names = await importAll()
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

  it('has the command pocket', async () => {
    const { stdout, stderr } = await run('npx', ['pocket', 'voices'], esmProject)
    expect(stdout).toContain('rms')
    expect(stderr).toBe('')
  })
})

describe('a CommonJS project', () => {
  it('requires every entry, in silence, and gets the same', async () => {
    const names = JSON.parse(await runNode(['require-all.cjs', ...entries], commonjsProject))
    expect(names).toEqual(await importAll())
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
