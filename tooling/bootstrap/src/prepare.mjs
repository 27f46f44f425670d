import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
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

/** @typedef {import('./workspace.mjs').WorkspacePackage} WorkspacePackage */

const stampFileOfBuilds = stampFile(root, 'built')

/**
 * What a package is built from, and what its last build left; undefined where it is not built.
 * @param {WorkspacePackage} entry
 */
const stampOf = ({ folder }) => {
  const outputs = buildOutputs(folder)
  const shared = buildInputs(join(root, 'tooling/config'))
  return outputs && `${shared} ${buildInputs(folder)} ${outputs}`
}

/** @param {WorkspacePackage[]} entries */
const noteBuilt = (entries) => {
  const stamps = entries.map((entry) => [entry.name, stampOf(entry)])
  writeStamp(stampFileOfBuilds, { ...readStamp(stampFileOfBuilds), ...Object.fromEntries(stamps) })
}

const turboBuild = ['exec', 'turbo', 'run', 'build', '--output-logs=errors-only']

/** Builds the whole workspace, as it would be published. Turbo knows what it has built before. */
export const buildAll = async () => {
  await step('Building', () => pnpm(...turboBuild))
  noteBuilt(readWorkspace().filter(({ scripts }) => scripts.build))
}

/**
 * Makes a program ready to run: builds it and all that it needs where something is missing or stale, without type
 * declarations. Where nothing is, it only reads sources.
 * @param {string} name
 */
export const buildToRun = async (name) => {
  const needed = closure(readWorkspace(), name).filter(({ scripts }) => scripts.build)
  const built = readStamp(stampFileOfBuilds)
  if (needed.every((entry) => built[entry.name] !== undefined && built[entry.name] === stampOf(entry))) return
  process.env.SKIP_DECLARATIONS = '1'
  await step('Building', () => pnpm(...turboBuild, `--filter=${name}...`))
  noteBuilt(needed)
}
