import { randomUUID } from 'node:crypto'
import { join, relative, sep } from 'node:path'
import type { HubLocation } from '../location.ts'

/**
 * Where things are in the cache that all tools of the hub share:
 *
 *     models--owner--repo/blobs/<etag>                    contents
 *     models--owner--repo/refs/<branch or tag>            the commit it stood for
 *     models--owner--repo/snapshots/<commit>/<path>       a relative link to the contents
 *     .locks/models--owner--repo/                         what belongs to downloads under way
 *
 * Our partial files and locks have names of their own: a Python tool that fetches the same file at the same time locks
 * by other means, and the two must not write into one file.
 */
export interface CacheLayout {
  readonly folder: string
  readonly blobs: string
  readonly refs: string
  readonly snapshots: string
  readonly locks: string
}

export const incompleteSuffix = '.pocket.incomplete'

export const repositoryLayout = (
  cacheDir: string,
  { owner, repo }: Pick<HubLocation, 'owner' | 'repo'>,
): CacheLayout => {
  const name = `models--${owner}--${repo}`
  const folder = join(cacheDir, name)
  return {
    folder,
    blobs: join(folder, 'blobs'),
    refs: join(folder, 'refs'),
    snapshots: join(folder, 'snapshots'),
    locks: join(cacheDir, '.locks', name),
  }
}

/** The lock of a download, by the name of the contents. */
export const lockPath = ({ locks }: CacheLayout, etag: string): string => join(locks, `${etag}.pocket.lock`)

/** A name for something that is renamed once it is whole; what a killed process leaves there is found by its suffix. */
export const temporaryPath = ({ locks }: CacheLayout): string => join(locks, randomUUID() + incompleteSuffix)

/** The path of a file in a commit. */
export const snapshotPath = ({ snapshots }: CacheLayout, commit: string, path: string): string =>
  join(snapshots, commit, ...path.split('/'))

/** The path within its repository of a file in a snapshot's folder. */
export const repositoryPath = (snapshot: string, file: string): string =>
  relative(snapshot, file).split(sep).join('/')
