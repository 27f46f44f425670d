import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { createProject, packAll } from '../src/projects.ts'
import { libraries, published } from '../src/published.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The packed packages, by name. */
    tarballs: Readonly<Record<string, string>>
    /** Where every library is installed from its tarball. */
    esmProject: string
    commonjsProject: string
    /** Where the programs are, and the libraries that they need. */
    programsProject: string
  }
}

/** Packs once and installs three times, far from this repository, whose node_modules would hide what is missing. */
export default async (vitest: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'pocket-packaging-'))
  const remove = (): void => rmSync(folder, { recursive: true })
  try {
    const tarballs = await packAll(join(folder, 'tarballs'))
    vitest.provide('tarballs', tarballs)
    for (const [key, type, packages] of [
      ['esmProject', 'module', libraries],
      ['commonjsProject', 'commonjs', libraries],
      ['programsProject', 'module', published],
    ] as const) {
      const project = join(folder, key)
      await createProject(project, type, packages, tarballs)
      vitest.provide(key, project)
    }
  } catch (error) {
    remove()
    throw error
  }
  return remove
}
