import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { createProject, packAll } from '../src/projects.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The packed packages, by name. */
    tarballs: Readonly<Record<string, string>>
    /** Where every package is installed from its tarball. */
    esmProject: string
    commonjsProject: string
  }
}

/** Packs once and installs twice, far from this repository, whose node_modules would hide what is missing. */
export default async (vitest: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'pocket-packaging-'))
  const tarballs = await packAll(join(folder, 'tarballs'))
  const esmProject = join(folder, 'esm')
  const commonjsProject = join(folder, 'commonjs')
  await createProject(esmProject, 'module', tarballs)
  await createProject(commonjsProject, 'commonjs', tarballs)
  vitest.provide('tarballs', tarballs)
  vitest.provide('esmProject', esmProject)
  vitest.provide('commonjsProject', commonjsProject)
  return () => rmSync(folder, { recursive: true })
}
