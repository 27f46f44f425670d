import { createReadStream } from 'node:fs'
import { lstat, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CachedFile, HubReport, Verdict } from '../hub.ts'
import { formatHubLocation, isCommit } from '../location.ts'
import { checksumOf } from '../remote-file.ts'
import { splitRepository } from '../repositories.ts'
import {
  type CacheLayout,
  incompleteSuffix,
  lockPath,
  repositoryLayout,
  repositoryPath,
} from './cache-layout.ts'
import { createNodeDigest } from './digest.ts'
import { isLocked } from './file-lock.ts'
import { entriesOf, fileSize, linkedEtag, readRef } from './snapshot.ts'

/** Every file of every snapshot of some repositories, sorted by place. Links that lead nowhere are left out. */
export const listFiles = async (cacheDir: string, repositories: Iterable<string>): Promise<CachedFile[]> => {
  const files: CachedFile[] = []
  for (const repository of repositories) {
    const { owner, repo } = splitRepository(repository)
    const layout = repositoryLayout(cacheDir, { owner, repo })
    const refs = await refsByCommit(layout)
    for (const { name: commit } of await entriesOf(layout.snapshots)) {
      if (!isCommit(commit)) continue
      const snapshot = join(layout.snapshots, commit)
      for await (const path of filesBelow(snapshot)) {
        const size = await fileSize(path)
        if (size === undefined) continue
        files.push({
          location: { owner, repo, path: repositoryPath(snapshot, path), revision: commit },
          size,
          file: pathToFileURL(path),
          refs: refs.get(commit) ?? [],
          etag: await linkedEtag(layout, path),
        })
      }
    }
  }
  return files.sort((a, b) => (formatHubLocation(a.location) < formatHubLocation(b.location) ? -1 : 1))
}

export const verifyFile = async (
  { file, etag, size }: CachedFile,
  signal: AbortSignal | undefined,
): Promise<Verdict> => {
  const checksum = etag === undefined ? undefined : checksumOf(etag)
  if (checksum === undefined || !(file instanceof URL)) return { state: 'unverifiable' }
  const digest = createNodeDigest(checksum, size)
  for await (const piece of createReadStream(file, { highWaterMark: 1 << 20 })) {
    signal?.throwIfAborted()
    digest.update(piece)
  }
  const found = await digest.hex()
  return found === checksum.hex ? { state: 'sound' } : { state: 'damaged', expected: checksum.hex, found }
}

/** Removes a file from its snapshot, its contents with the last snapshot that has them, and folders left empty. */
export const removeFile = async (layout: CacheLayout, { file, etag, size }: CachedFile): Promise<number> => {
  const path = fileURLToPath(file as URL)
  await rm(path, { force: true })
  await removeEmptyFolders(dirname(path), layout.snapshots)
  if (etag === undefined) return size
  for await (const other of filesBelow(layout.snapshots)) {
    if ((await linkedEtag(layout, other)) === etag) return 0
  }
  await rm(join(layout.blobs, etag), { force: true })
  return size
}

/** Removes partial files, except those of downloads under way. */
export const removeIncomplete = async (cacheDir: string, repositories: Iterable<string>): Promise<number> => {
  let freed = 0
  for (const { path, size } of await incompleteFiles(cacheDir, repositories)) {
    await rm(path, { force: true })
    freed += size
  }
  return freed
}

export const reportOn = async (
  cacheDir: string,
  repositories: Iterable<string>,
): Promise<Pick<HubReport, 'files' | 'bytes' | 'incompleteBytes'>> => {
  const wanted = [...repositories]
  const files = await listFiles(cacheDir, wanted)
  const contents = new Map<string, number>()
  for (const { location, etag, file, size } of files) {
    contents.set(etag === undefined ? String(file) : `${location.owner}/${location.repo}/${etag}`, size)
  }
  const incomplete = await incompleteFiles(cacheDir, wanted)
  return {
    files: files.length,
    bytes: sum([...contents.values()]),
    incompleteBytes: sum(incomplete.map(({ size }) => size)),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const incompleteFiles = async (
  cacheDir: string,
  repositories: Iterable<string>,
): Promise<{ path: string; size: number }[]> => {
  const found: { path: string; size: number }[] = []
  for (const repository of repositories) {
    const layout = repositoryLayout(cacheDir, splitRepository(repository))
    for (const folder of [layout.blobs, layout.locks]) {
      for (const { name } of await entriesOf(folder)) {
        if (!name.endsWith(incompleteSuffix)) continue
        if (await isLocked(lockPath(layout, name.slice(0, -incompleteSuffix.length)))) continue
        const path = join(folder, name)
        found.push({ path, size: (await lstat(path)).size })
      }
    }
  }
  return found
}

const refsByCommit = async (layout: CacheLayout): Promise<Map<string, string[]>> => {
  const refs = new Map<string, string[]>()
  for await (const path of filesBelow(layout.refs)) {
    const ref = repositoryPath(layout.refs, path)
    const commit = await readRef(layout, ref)
    if (commit === undefined) continue
    refs.set(commit, [...(refs.get(commit) ?? []), ref].sort())
  }
  return refs
}

async function* filesBelow(folder: string): AsyncGenerator<string, void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name)
    // Links to folders are not followed: nobody makes them here, and they may lead in circles.
    if (entry.isDirectory()) yield* filesBelow(path)
    else yield path
  }
}

const removeEmptyFolders = async (folder: string, root: string): Promise<void> => {
  for (let path = folder; path.startsWith(root); path = dirname(path)) {
    try {
      await rmdir(path)
    } catch {
      // Not empty: others have files there.
      return
    }
  }
}
