import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildInputs, buildOutputs, fingerprintOf, readStamp, stampFile, writeStamp } from './fingerprint.mjs'
import { pnpm, step } from './processes.mjs'
import { closure, readWorkspace, root } from './workspace.mjs'

/** Installs dependencies where they are missing or the lockfile or a manifest has changed since. */
export const install = async () => {
  const manifests = readWorkspace().map(({ folder }) => join(folder, 'package.json'))
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => join(root, name))
  const lockfile = fingerprintOf(root, [...files, ...manifests])
  const stamp = stampFile(root, 'installed')
  if (existsSync(join(root, 'node_modules/.pnpm')) && readStamp(stamp).lockfile === lockfile) return
  await step('Installing dependencies', () =>
    // Without a terminal pnpm would refuse to replace a node_modules that another version laid out.
    pnpm('install', '--frozen-lockfile', '--config.confirm-modules-purge=false'),
  )
  writeStamp(stamp, { lockfile })
}

/** @param {import('./workspace.mjs').WorkspacePackage} entry */
const stampOf = ({ folder }) => {
  const outputs = buildOutputs(folder)
  return outputs && `${buildInputs(folder)} ${outputs}`
}

/**
 * Builds what is missing or stale: a package and all that it needs, or the whole workspace.
 * @param {string} [name]
 */
export const build = async (name) => {
  const workspace = readWorkspace()
  const wanted = (name ? closure(workspace, name) : workspace).filter(({ scripts }) => scripts.build)
  const file = stampFile(root, 'built')
  const built = readStamp(file)
  const shared = buildInputs(join(root, 'tooling/config'))
  const isFresh =
    built['@tooling/config'] === shared && wanted.every((entry) => built[entry.name] === stampOf(entry))
  if (isFresh) return
  const filter = name ? [`--filter=${name}...`] : []
  await step('Building', () => pnpm('exec', 'turbo', 'run', 'build', '--output-logs=errors-only', ...filter))
  const stamps = wanted.map((entry) => [entry.name, stampOf(entry) ?? ''])
  writeStamp(file, {
    ...(built['@tooling/config'] === shared ? built : {}),
    '@tooling/config': shared,
    ...Object.fromEntries(stamps),
  })
}
