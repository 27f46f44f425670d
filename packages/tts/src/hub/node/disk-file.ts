import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { PartialFile } from '../transfer.ts'

const readBytes = 1 << 20

/**
 * A download under way, in a file of its own. Bytes are written at their positions: should two processes ever write
 * into it at once, they write the same.
 */
export class DiskFile implements PartialFile {
  readonly #path: string
  readonly #handle: FileHandle
  #length: number

  /** Opens what is there, or an empty file. */
  static async open(path: string): Promise<DiskFile> {
    const handle = await openToUpdate(path)
    try {
      return new DiskFile(path, handle, (await handle.stat()).size)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  private constructor(path: string, handle: FileHandle, length: number) {
    this.#path = path
    this.#handle = handle
    this.#length = length
  }

  get length(): number {
    return this.#length
  }

  async *read(): AsyncGenerator<Uint8Array, void> {
    const buffer = new Uint8Array(Math.min(readBytes, this.#length))
    for (let position = 0; position < this.#length; ) {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, position)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
      position += bytesRead
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, written, bytes.length - written, this.#length)
      written += bytesWritten
      this.#length += bytesWritten
    }
  }

  async clear(): Promise<void> {
    await this.#handle.truncate(0)
    this.#length = 0
  }

  /** Gives the finished file its name: after a power cut there is the whole file under it, or none. */
  async moveTo(path: string): Promise<void> {
    await this.#handle.sync()
    // Windows does not rename open files.
    await this.#handle.close()
    await rename(this.#path, path)
    await syncFolder(dirname(path))
  }

  /** Lets go of the file. One without bytes is removed. */
  async close(): Promise<void> {
    await this.#handle.close()
    if (this.#length === 0) await rm(this.#path, { force: true })
  }
}

const openToUpdate = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path, 'r+')
  } catch {
    return open(path, 'w+')
  }
}

/** Makes a rename durable, where the system lets folders be synced. */
const syncFolder = async (path: string): Promise<void> => {
  try {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {
    // Windows has no such thing; the rename is as durable there as it gets.
  }
}
