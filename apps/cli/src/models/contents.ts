import type { CachedFile } from '@pocket/tts'

/** What a file's bytes are shared by: several revisions may have the same contents, which are there once. */
const contentsOf = ({ location, etag, file }: CachedFile): string =>
  etag === undefined ? String(file) : `${location.owner}/${location.repo}/${etag}`

/** The bytes that files take, each contents counted once. */
export const bytesOf = (files: readonly CachedFile[]): number => {
  const sizes = new Map(files.map((file) => [contentsOf(file), file.size]))
  return [...sizes.values()].reduce((total, size) => total + size, 0)
}

/** The bytes that go when files are removed: contents that others of `all` have stay. */
export const freedBytes = (files: readonly CachedFile[], all: readonly CachedFile[]): number => {
  const places = new Set(files.map(({ file }) => String(file)))
  const staying = new Set(all.filter(({ file }) => !places.has(String(file))).map(contentsOf))
  return bytesOf(files.filter((file) => !staying.has(contentsOf(file))))
}
