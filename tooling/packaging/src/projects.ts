import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './processes.ts'
import { type PublishedPackage, published, root } from './published.ts'

const consumers: string = fileURLToPath(new URL('../consumers', import.meta.url))

/** Packs every published package as it would be uploaded, into a folder. Gives the tarballs' paths by package name. */
export const packAll = async (folder: string): Promise<Record<string, string>> => {
  for (const { name, folder: source } of published) {
    if (!existsSync(join(source, 'dist'))) throw new Error(`${name} is not built; run \`pnpm build\` first`)
  }
  mkdirSync(folder, { recursive: true })
  const filters = published.map(({ name }) => `--filter=${name}`)
  const pack = ['--recursive', ...filters, 'pack', '--pack-destination', folder]
  await run('npx', ['--prefer-offline', '-y', 'pnpm@12', ...pack], root)
  return Object.fromEntries(
    published.map(({ name, manifest }) => {
      const file = `${name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
      return [name, join(folder, file)]
    }),
  )
}

/**
 * A project of a user who has installed some packages and nothing else, with this package's consumers beside it.
 * What npm finds in no tarball it takes from its cache, else from the registry.
 */
export const createProject = async (
  folder: string,
  type: 'module' | 'commonjs',
  packages: readonly PublishedPackage[],
  tarballs: Readonly<Record<string, string>>,
): Promise<void> => {
  cpSync(consumers, folder, { recursive: true })
  const dependencies = Object.fromEntries(packages.map(({ name }) => [name, `file:${tarballs[name]}`]))
  const manifest = { name: 'consumer', private: true, type, dependencies }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock'], folder)
}

/** The folder of a package as npm installed it from its tarball. */
export const installed = (project: string, name: string): string => join(project, 'node_modules', name)

/** Every file below a folder, as paths relative to it with forward slashes. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
