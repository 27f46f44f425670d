import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { sleep } from '../retry.ts'
import { isExisting, isMissing } from './system-errors.ts'

const pollMs = 100
const beatMs = 2_000
/** An owner that has not shown itself for so long is dead or on a machine that is. */
const staleMs = 60_000

export interface LockOptions {
  readonly signal: AbortSignal
  /** Called now and then while another process holds the lock. */
  readonly onWait?: () => Promise<void>
}

/**
 * Runs `work` while no other process does so with the same lock file. A lock whose owner was killed is taken over: at
 * once on the machine where it ran, else after a minute without a sign of life.
 *
 * The file's existence is the lock, since Node has no `flock`. Taking over is not free of races between three
 * processes at the same instant, and need not be: the lock saves work, while positional writes, checksums and renames
 * keep the cache sound without it.
 */
export const withFileLock = async <T>(
  path: string,
  { signal, onWait }: LockOptions,
  work: () => Promise<T>,
): Promise<T> => {
  const owner = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() })
  await mkdir(dirname(path), { recursive: true })
  while (!(await create(path, owner))) {
    if (await takeAway(path)) continue
    await onWait?.()
    await sleep(pollMs, signal)
  }
  // A missed beat is no harm: the next one comes.
  const beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), beatMs)
  beat.unref()
  try {
    return await work()
  } finally {
    clearInterval(beat)
    if ((await contents(path)) === owner) await rm(path, { force: true })
  }
}

/** Whether a living process holds the lock. */
export const isLocked = async (path: string): Promise<boolean> => {
  const owner = await contents(path)
  return owner !== undefined && !(await isStale(path, owner))
}

const create = async (path: string, owner: string): Promise<boolean> => {
  try {
    const handle = await open(path, 'wx')
    try {
      await handle.writeFile(owner)
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    if (isExisting(error)) return false
    throw error
  }
}

/** Removes the lock of a dead owner. False while its owner lives. */
const takeAway = async (path: string): Promise<boolean> => {
  const found = await contents(path)
  if (found === undefined) return true
  if (!(await isStale(path, found))) return false
  // Of several who rename, one succeeds; what it holds then must be what was found dead.
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch (error) {
    if (isMissing(error)) return true
    throw error
  }
  if ((await contents(aside)) === found) await rm(aside, { force: true })
  else await rename(aside, path)
  return true
}

const isStale = async (path: string, owner: string): Promise<boolean> => {
  const modified = await modifiedAt(path)
  if (modified === undefined) return true
  if (Date.now() - modified > staleMs) return true
  const { pid, host } = parseOwner(owner)
  return host === hostname() && pid !== undefined && !isAlive(pid)
}

/** A lock that is being written, or that was cut off, names nobody; its age decides. */
const parseOwner = (text: string): { pid?: number; host?: string } => {
  try {
    const owner: unknown = JSON.parse(text)
    if (typeof owner !== 'object' || owner === null) return {}
    const { pid, host } = owner as { pid?: unknown; host?: unknown }
    return Number.isSafeInteger(pid) && typeof host === 'string' ? { pid: Number(pid), host } : {}
  } catch {
    return {}
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // No permission to signal it: it lives, as somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const contents = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const modifiedAt = async (path: string): Promise<number | undefined> => {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
