import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} WorkspacePackage
 * @property {string} name
 * @property {string} folder absolute path
 * @property {Record<string, string>} scripts
 * @property {string[]} dependencies names of all it depends on, for running and for building
 */

/** The repository's root folder. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

// The folders of pnpm-workspace.yaml. Read from here because no YAML parser exists before the first install.
const groups = ['packages', 'apps', 'tooling']

/**
 * Every package of the workspace, in the order of its folders.
 * @param {string} [base]
 * @returns {WorkspacePackage[]}
 */
export const readWorkspace = (base = root) =>
  groups.flatMap((group) => {
    const parent = join(base, group)
    if (!existsSync(parent)) return []
    return readdirSync(parent)
      .sort()
      .map((name) => join(parent, name))
      .filter((folder) => existsSync(join(folder, 'package.json')))
      .map(readPackage)
  })

/**
 * @param {string} folder
 * @returns {WorkspacePackage}
 */
const readPackage = (folder) => {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return {
    name: manifest.name,
    folder,
    scripts: manifest.scripts ?? {},
    dependencies: Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }),
  }
}

/**
 * The named package and all workspace packages that it needs, directly or not.
 * @param {WorkspacePackage[]} workspace
 * @param {string} name
 */
export const closure = (workspace, name) => {
  const byName = new Map(workspace.map((entry) => [entry.name, entry]))
  const found = new Set()
  const visit = (/** @type {string} */ next) => {
    const entry = byName.get(next)
    if (!entry || found.has(entry)) return
    found.add(entry)
    entry.dependencies.forEach(visit)
  }
  visit(name)
  return workspace.filter((entry) => found.has(entry))
}

/**
 * The Node that the workspace pins as a dependency: current, whichever version runs this script.
 * On a platform without a build of it, the running one.
 */
export const workspaceNode = () => {
  const pinned = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
  return existsSync(pinned) ? pinned : process.execPath
}
