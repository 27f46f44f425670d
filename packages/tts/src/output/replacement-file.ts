import { randomUUID } from 'node:crypto'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { PocketTtsError } from '../errors.ts'
import { forgetAtExit, removeAtExit } from './exit-cleanup.ts'

/**
 * A file that takes the place of an older one, or of none, when it is whole. Until then it has another name in the same
 * folder, so that nobody ever finds a part of it under its own. What the system refuses becomes PocketTtsError
 * `write-failed`.
 */
export class ReplacementFile {
  /** As the caller named it. */
  readonly path: string
  readonly #target: string
  readonly #temporary: string
  readonly #file: FileHandle
  #isDone = false

  /** Refuses a folder, a device, and a place where nothing can be written. An older file's permissions are kept. */
  static create(path: string): Promise<ReplacementFile> {
    return refusing(path, async () => {
      // A link stays a link: what it leads to is replaced.
      const target = await realpath(path).catch(() => resolve(path))
      const present = await stat(target).catch(() => undefined)
      if (present && !present.isFile()) {
        throw new Error(
          present.isDirectory() ? 'it is a folder' : 'it is no regular file, and is not replaced by one',
        )
      }
      const temporary = join(dirname(target), `.pocket-${randomUUID()}.part`)
      const file = new ReplacementFile(path, target, temporary, await open(temporary, 'wx'))
      if (present) await file.#file.chmod(present.mode & permissions)
      return file
    })
  }

  private constructor(path: string, target: string, temporary: string, file: FileHandle) {
    this.path = path
    this.#target = target
    this.#temporary = temporary
    this.#file = file
    removeAtExit(temporary)
  }

  append(bytes: Uint8Array): Promise<void> {
    return refusing(this.path, () => this.#file.appendFile(bytes))
  }

  /** Writes over the beginning, where one is given, puts everything on the disk and gives the file its name. */
  finish(beginning?: Uint8Array): Promise<void> {
    return refusing(this.path, async () => {
      if (beginning) await this.#file.write(beginning, { position: 0 })
      await this.#file.sync()
      await this.#file.close()
      await rename(this.#temporary, this.#target)
      this.#isDone = true
      forgetAtExit(this.#temporary)
    })
  }

  /** Leaves everything as it was before. Does nothing after `finish`. */
  async discard(): Promise<void> {
    if (this.#isDone) return
    this.#isDone = true
    await this.#file.close().catch(() => {})
    await rm(this.#temporary, { force: true })
    forgetAtExit(this.#temporary)
  }
}

/** The bits of a file's mode that say who may do what. */
const permissions = 0o7777

const refusing = async <Value>(path: string, work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work()
  } catch (cause) {
    throw new PocketTtsError('write-failed', `${path} cannot be written: ${reasonOf(cause, path)}`, { cause })
  }
}

const reasonOf = (cause: unknown, path: string): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no folder ${dirname(path)}`
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'writing there is not allowed'
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'there is no space left'
  return message
}
