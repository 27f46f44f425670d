import { statfs } from 'node:fs/promises'
import { PocketTtsError } from '../../errors.ts'

/** Whether the operating system says that there is nothing at a path. */
export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')

export const isExisting = (error: unknown): boolean => systemCode(error) === 'EEXIST'

const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined

const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'it is read-only',
}

/** Runs what works on the cache's files. Throws PocketTtsError `cache-failed` where the file system refuses. */
export const onDisk = async <T>(cacheDir: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (cause) {
    const code = systemCode(cause)
    if (code === undefined) throw cause
    const reason = advice[code] ?? (cause instanceof Error ? cause.message : code)
    throw new PocketTtsError(
      'cache-failed',
      `the cache ${cacheDir} cannot be used: ${reason}; make room there, or set HF_HUB_CACHE to another folder`,
      { cause },
    )
  }
}

/** Throws PocketTtsError `cache-failed` where so many more bytes do not fit: better now than after most of them. */
export const checkSpace = async (folder: string, needed: number): Promise<void> => {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (needed <= free) return
  throw new PocketTtsError(
    'cache-failed',
    `${folder} has ${free} bytes free, and ${needed} are needed; make room there, or set HF_HUB_CACHE to another folder`,
  )
}
