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

const builds = stampFile(root, 'built')

/** @param {WorkspacePackage} entry */
const inputsOf = ({ folder }) => `${buildInputs(join(root, 'tooling/config'))} ${buildInputs(folder)}`

/**
 * Builds with turbo, and notes what each package was built from and what that left.
 * @param {WorkspacePackage[]} entries
 * @param {string[]} args
 */
const build = async (entries, ...args) => {
  // Read before the build: a source that changes meanwhile is not in it.
  const inputs = entries.map(inputsOf)
  await step('Building', () => pnpm('exec', 'turbo', 'run', 'build', '--output-logs=errors-only', ...args))
  const stamps = entries.map(({ name, folder }, index) => [name, `${inputs[index]} ${buildOutputs(folder)}`])
  writeStamp(builds, { ...readStamp(builds), ...Object.fromEntries(stamps) })
}

/** @param {WorkspacePackage} entry */
const isBuilt = (entry) => {
  const outputs = buildOutputs(entry.folder)
  return outputs !== undefined && readStamp(builds)[entry.name] === `${inputsOf(entry)} ${outputs}`
}

/** Builds the whole workspace, as it would be published. Turbo knows what it has built before. */
export const buildAll = () => build(readWorkspace().filter(({ scripts }) => scripts.build))

/**
 * Makes a program ready to run: builds it and all that it needs where something is missing or stale, without type
 * declarations. Where nothing is, it only reads sources.
 * @param {string} name
 */
export const buildToRun = async (name) => {
  const needed = closure(readWorkspace(), name).filter(({ scripts }) => scripts.build)
  if (needed.every(isBuilt)) return
  process.env.SKIP_DECLARATIONS = '1'
  await build(needed, `--filter=${name}...`)
}
