import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * A file that takes the place of another, or of none, when it is whole. Until then it lies beside it under another
 * name: at no moment does a partial file bear the name itself.
 */
export interface Replacement {
  readonly file: FileHandle
  /** Everything is written: the file gets its name. */
  commit(): Promise<void>
  /** Leaves everything as it was before. Does nothing after `commit`. */
  discard(): Promise<void>
}

/** Rejects, with the system's error, where the folder cannot be written to. */
export const openReplacement = async (path: string): Promise<Replacement> => {
  // Containers that share a folder share process ids too, and a name may be as long as names can be.
  const temporary = join(dirname(path), `.pocket-${randomUUID()}.part`)
  const file = await open(temporary, 'wx')
  let isDone = false
  return {
    file,
    async commit() {
      await file.close()
      await rename(temporary, path)
      isDone = true
    },
    async discard() {
      if (isDone) return
      isDone = true
      await file.close()
      await rm(temporary, { force: true })
    },
  }
}
