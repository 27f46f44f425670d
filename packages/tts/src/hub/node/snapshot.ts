import type { Dirent } from 'node:fs'
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { HubFile } from '../hub.ts'
import { type HubLocation, isCommit } from '../location.ts'
import { type CacheLayout, snapshotPath, temporaryPath } from './cache-layout.ts'
import { isMissing } from './system-errors.ts'

/** The file of a place, if the cache has it; for a branch or tag, as it was when last looked at. */
export const findInSnapshots = async (
  layout: CacheLayout,
  location: HubLocation,
): Promise<(HubFile & { readonly file: URL }) | undefined> => {
  const { revision } = location
  const commit = isCommit(revision) ? revision : await readRef(layout, revision)
  if (commit === undefined) return undefined
  const path = snapshotPath(layout, commit, location.path)
  const size = await fileSize(path)
  if (size === undefined) return undefined
  return { location: { ...location, revision: commit }, size, file: pathToFileURL(path) }
}

/** Of a file, or the file that a link leads to; undefined where there is none. */
export const fileSize = async (path: string): Promise<number | undefined> => {
  try {
    const found = await stat(path)
    return found.isFile() ? found.size : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** How a snapshot has its files. */
export type LinkKind = 'symbolic' | 'hard' | 'none'

/**
 * Makes a file of a snapshot: a relative link to its contents, so that the cache can be moved as a whole. Windows allows
 * symbolic links to administrators only: then it is a hard link. Some drives have no links at all: then the contents
 * themselves move there, which is what the Python tools do.
 *
 * @param best the best kind of link to try
 */
export const addToSnapshot = async (
  layout: CacheLayout,
  blob: string,
  path: string,
  best: LinkKind,
): Promise<void> => {
  const folder = dirname(path)
  await Promise.all([folder, layout.locks].map((needed) => mkdir(needed, { recursive: true })))
  // Made aside and renamed: who looks sees the old file, or the new one.
  const aside = temporaryPath(layout)
  const ways: [LinkKind, () => Promise<void>][] = [
    ['symbolic', () => symlink(relative(folder, blob), aside)],
    ['hard', () => link(blob, aside)],
    ['none', () => rename(blob, aside)],
  ]
  for (const [kind, make] of ways.slice(ways.findIndex(([kind]) => kind === best))) {
    try {
      await make()
      break
    } catch (error) {
      if (kind === 'none') throw error
    }
  }
  await rename(aside, path)
  // Renaming one hard link over another of the same file does nothing, and leaves both.
  await rm(aside, { force: true })
}

/** The name of the contents that a file of a snapshot links to; undefined where it is no link. */
export const linkedEtag = async ({ blobs }: CacheLayout, path: string): Promise<string | undefined> => {
  const found = await lstat(path, { bigint: true })
  if (found.isSymbolicLink()) {
    const target = resolve(dirname(path), await readlink(path))
    return dirname(target) === blobs ? basename(target) : undefined
  }
  if (found.nlink < 2n) return undefined
  for (const { name } of await entriesOf(blobs)) {
    const blob = await lstat(join(blobs, name), { bigint: true })
    if (blob.ino === found.ino && blob.dev === found.dev) return name
  }
  return undefined
}

/** What is in a folder; nothing where there is none. */
export const entriesOf = async (folder: string): Promise<Dirent[]> => {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

export const readRef = async ({ refs }: CacheLayout, revision: string): Promise<string | undefined> => {
  try {
    const commit = (await readFile(join(refs, ...revision.split('/')), 'utf8')).trim()
    return isCommit(commit) ? commit : undefined
  } catch (error) {
    if (isMissing(error) || isFolder(error)) return undefined
    throw error
  }
}

const isFolder = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EISDIR'

/** Remembers what a branch or tag stands for. */
export const writeRef = async (layout: CacheLayout, revision: string, commit: string): Promise<void> => {
  if (isCommit(revision) || (await readRef(layout, revision)) === commit) return
  const path = join(layout.refs, ...revision.split('/'))
  await Promise.all([dirname(path), layout.locks].map((needed) => mkdir(needed, { recursive: true })))
  const aside = temporaryPath(layout)
  await writeFile(aside, commit)
  await rename(aside, path)
}
