import { type FileHandle, open, stat } from 'node:fs/promises'
import { SafeTensorsError } from './error.ts'
import { allocate } from './memory.ts'
import { type ByteSource, readIndex, SourceReader, type TensorReader } from './tensor-reader.ts'

/** A TensorReader that holds a file open until it is closed. */
export interface FileTensorReader extends TensorReader {
  /**
   * Waits for the reads under way, then closes the file. Reads that come later reject with `closed`; what the
   * header says stays known. May be called again.
   */
  close(): Promise<void>
  /** The same as close, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a safetensors file on disk. Only the header and the tensors asked for are read, at their positions,
 * so that reads may overlap.
 *
 * Throws SafeTensorsError: `file-not-found`, `not-a-file` (a directory, a pipe), `read-failed` (the system's
 * error is the `cause`), or what openSource throws, led by the path.
 */
export const openFile = async (path: string | URL): Promise<FileTensorReader> => {
  const source = await FileSource.open(path)
  try {
    return new FileReader(source, await readIndex(source))
  } catch (error) {
    await source.close()
    throw error instanceof SafeTensorsError ? error.at(String(path)) : error
  }
}

class FileReader extends SourceReader implements FileTensorReader {
  readonly #file: FileSource

  constructor(file: FileSource, index: ConstructorParameters<typeof SourceReader>[1]) {
    super(file, index)
    this.#file = file
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close()
  }
}

/** A single read of Node moves at most 2^31 - 1 bytes. */
const mostBytesPerRead = 2 ** 30

class FileSource implements ByteSource {
  readonly size: number
  readonly #path: string
  readonly #handle: FileHandle
  readonly #pending = new Set<Promise<Uint8Array>>()
  #closing: Promise<void> | undefined

  static async open(path: string | URL): Promise<FileSource> {
    try {
      // Asked before the file is opened, since to open a pipe is to wait for its writer.
      if (!(await stat(path)).isFile()) {
        throw new SafeTensorsError(
          'not-a-file',
          `${path} is no file: expected the path of a safetensors file`,
        )
      }
      const handle = await open(path, 'r')
      return new FileSource(String(path), handle, (await handle.stat()).size)
    } catch (error) {
      throw openingError(path, error)
    }
  }

  private constructor(path: string, handle: FileHandle, size: number) {
    this.#path = path
    this.#handle = handle
    this.size = size
  }

  async read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    if (this.#closing) {
      throw new SafeTensorsError('closed', `${this.#path} is closed: read its tensors before close()`)
    }
    const reading = this.#readFully(offset, length, into)
    this.#pending.add(reading)
    try {
      return await reading
    } finally {
      this.#pending.delete(reading)
    }
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#pending).then(() => this.#handle.close())
    return this.#closing
  }

  async #readFully(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const holds = into !== undefined && into.length >= length
    const bytes = holds ? into.subarray(0, length) : new Uint8Array(allocate(length))
    let filled = 0
    while (filled < length) {
      const wanted = Math.min(length - filled, mostBytesPerRead)
      const count = await this.#readSome(bytes, filled, wanted, offset + filled)
      if (count === 0) {
        throw new SafeTensorsError(
          'truncated',
          `${this.#path} ends at byte ${offset + filled}: it had ${this.size} bytes when it was opened`,
        )
      }
      filled += count
    }
    return bytes
  }

  async #readSome(target: Uint8Array, at: number, length: number, position: number): Promise<number> {
    try {
      return (await this.#handle.read(target, at, length, position)).bytesRead
    } catch (cause) {
      throw new SafeTensorsError('read-failed', `${this.#path} cannot be read: ${reason(cause)}`, { cause })
    }
  }
}

const openingError = (path: string | URL, cause: unknown): SafeTensorsError => {
  if (cause instanceof SafeTensorsError) return cause
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new SafeTensorsError('file-not-found', `there is no file ${path}`, { cause })
  }
  return new SafeTensorsError('read-failed', `${path} cannot be opened: ${reason(cause)}`, { cause })
}

const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
