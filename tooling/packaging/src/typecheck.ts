import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runNode } from './processes.ts'

const compiler = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')))
const typeRoots = [fileURLToPath(new URL('../node_modules/@types', import.meta.url))]

/** How programs are compiled: for Node by its own rules, or for a page by a bundler's. */
const platforms = {
  node: { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2023'], types: ['node'], typeRoots },
  browser: {
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
  },
} as const

/** Compiles files of a project as strictly as TypeScript can, the declarations of packages included. */
export const typecheck = (
  project: string,
  platform: keyof typeof platforms,
  files: readonly string[],
): Promise<string> => {
  const compilerOptions = {
    ...platforms[platform],
    target: 'es2023',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  }
  const config = `tsconfig.${platform}.json`
  writeFileSync(join(project, config), JSON.stringify({ compilerOptions, files }, null, 2))
  return runNode([compiler, '-p', config], project)
}
