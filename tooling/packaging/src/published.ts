import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the checks read of a package.json. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly type?: string
  readonly sideEffects?: boolean
  readonly engines?: { readonly node?: string }
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly imports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

export interface PublishedPackage {
  readonly name: string
  /** Its folder in the workspace. */
  readonly folder: string
  readonly manifest: Manifest
  /** What can be imported, as a user writes it: `@pocket/tts`, `@pocket/safetensors/node`. */
  readonly entries: readonly string[]
}

/** The root folder of the repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

const describePackage = (folder: string): PublishedPackage => {
  const manifest = readManifest(folder)
  const entries = Object.entries(manifest.exports ?? {})
    .filter(([, target]) => typeof target !== 'string')
    .map(([path]) => manifest.name + path.slice(1))
  return { name: manifest.name, folder, manifest, entries }
}

/** The packages of a group of the workspace that are not private. */
const publishedIn = (group: string): readonly PublishedPackage[] =>
  readdirSync(join(root, group))
    .map((name) => join(root, group, name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map(describePackage)
    .filter(({ manifest }) => !manifest.private)

export const libraries: readonly PublishedPackage[] = publishedIn('packages')
export const programs: readonly PublishedPackage[] = publishedIn('apps')
export const published: readonly PublishedPackage[] = [...libraries, ...programs]

/** All that can be imported of some packages. */
export const entriesOf = (packages: readonly PublishedPackage[]): string[] =>
  packages.flatMap(({ entries }) => entries)
