import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Program, programsOf } from './programs.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Folders with a README for users, from the root of the repository; `.` is the repository's own. */
const folders = [
  '.',
  ...['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => `${group}/${name}`),
  ),
]

export const programs: Program[] = folders
  .map((folder) => join(folder, 'README.md'))
  .filter((readme) => existsSync(join(root, readme)))
  .flatMap((readme) => programsOf(readme, readFileSync(join(root, readme), 'utf8')))

/** The source of every `examples/*.ts` of the packages, by path. */
export const examples: ReadonlyMap<string, string> = new Map(
  folders
    .map((folder) => join(folder, 'examples'))
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
)
