import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * All files below a folder, sorted, folders that `skip` names left out.
 * @param {string} folder
 * @param {Set<string>} skip
 * @returns {string[]}
 */
const walk = (folder, skip) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !skip.has(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? walk(path, skip) : [path]
    })

/**
 * A digest of names and contents. Contents, not times: a checkout sets times at will.
 * @param {string} base folder that the names are relative to
 * @param {string[]} files
 */
export const fingerprintOf = (base, files) => {
  const hash = createHash('sha256')
  for (const file of files) {
    const content = readFileSync(file)
    hash.update(`${relative(base, file)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

// What a build neither reads nor writes: its own output, what tests leave, and the model's 17 MB of data.
const notInputs = new Set([
  'node_modules',
  'dist',
  'build',
  'test',
  'bench',
  'examples',
  'model',
  '.turbo',
  'test-report.json',
  'test-report.built.json',
])

/**
 * Digest of all that a package's build reads.
 * @param {string} folder
 */
export const buildInputs = (folder) =>
  fingerprintOf(
    folder,
    walk(folder, notInputs).filter((file) => !file.endsWith('.md')),
  )

/**
 * Digest of what a build has written, by names, sizes and times; `undefined` where nothing was built.
 * A build that ran outside this script changes it, so an old stamp never vouches for it.
 * @param {string} folder
 */
export const buildOutputs = (folder) => {
  const dist = join(folder, 'dist')
  if (!existsSync(dist)) return undefined
  const hash = createHash('sha256')
  for (const file of walk(dist, new Set())) {
    const { size, mtimeMs } = statSync(file)
    hash.update(`${relative(dist, file)}\0${size}\0${mtimeMs}\0`)
  }
  return hash.digest('hex')
}

/**
 * Notes of what was installed and built, kept under node_modules: whoever deletes that deletes them too.
 * @param {string} root
 * @param {string} name
 */
export const stampFile = (root, name) => join(root, 'node_modules/.cache/pocket', `${name}.json`)

/**
 * @param {string} file
 * @returns {Record<string, string>}
 */
export const readStamp = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {} // Missing or torn: as if nothing had been done.
  }
}

/**
 * @param {string} file
 * @param {Record<string, string>} stamp
 */
export const writeStamp = (file, stamp) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(stamp, null, 1))
}
