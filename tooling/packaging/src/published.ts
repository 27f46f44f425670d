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
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly imports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

export interface PublishedPackage {
  readonly name: string
  /** Its folder in the workspace. */
  readonly folder: string
  readonly manifest: Manifest
  /** What can be imported, as a user writes it: `@pocket/tts`, `@pocket/safetensors/node`. Nothing of a program. */
  readonly entries: readonly string[]
}

/** The root folder of the repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

const describePackage = (folder: string): PublishedPackage => {
  const manifest = readManifest(folder)
  const entries = Object.entries(manifest.exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([path]) => manifest.name + path.slice(1))
  return { name: manifest.name, folder, manifest, entries }
}

/** Every package of the workspace that is not private: libraries and programs. */
export const published: readonly PublishedPackage[] = ['packages', 'apps']
  .map((group) => join(root, group))
  .flatMap((group) => readdirSync(group).map((name) => join(group, name)))
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map(describePackage)
  .filter(({ manifest }) => !manifest.private)

/** Those that are made to be imported. */
export const libraries: readonly PublishedPackage[] = published.filter(({ entries }) => entries.length > 0)
