import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { sep } from 'node:path'
import { InputError } from '../errors.ts'
import type { Io, Output } from '../io.ts'
import { type BytesDestination, bytesFile, bytesStream } from './bytes-destination.ts'
import type { Destination } from './destination.ts'
import { fileDestination } from './file-destination.ts'
import { streamDestination } from './stream-destination.ts'

/**
 * Opens what --output-path names, before anything is computed: a file, a device or named pipe, or standard output
 * for `-`. Throws InputError where nothing can be written there.
 */
export const openDestination = (path: string, io: Pick<Io, 'stdout'>): Promise<Destination> =>
  openTarget(path, io, {
    file: fileDestination,
    stream: streamDestination,
    instead: 'pipe it to a player, redirect it, or give -o a file name',
  })

/** The same for bytes that are written all at once. */
export const openBytesDestination = (path: string, io: Pick<Io, 'stdout'>): Promise<BytesDestination> =>
  openTarget(path, io, {
    file: bytesFile,
    stream: bytesStream,
    instead: 'pipe it, redirect it, or give -o a file name',
  })

interface Kind<T> {
  file(path: string, label: string): Promise<T>
  stream(output: Output, label: string): T
  /** What to do where standard output is a terminal. */
  readonly instead: string
}

const openTarget = async <T>(path: string, { stdout }: Pick<Io, 'stdout'>, kind: Kind<T>): Promise<T> => {
  if (path === '-') {
    if (!stdout.isTTY) return kind.stream(stdout, 'standard output')
    throw new InputError(`standard output is a terminal; ${kind.instead}`)
  }
  if (path === '') throw new InputError('the output path is empty; give a file name')
  if (path.endsWith('/') || path.endsWith(sep)) {
    throw new InputError(`${path} is the name of a folder; name a file in it`)
  }
  const present = await stat(path).catch(() => undefined)
  if (present?.isDirectory()) throw new InputError(`${path} is a folder; name a file in it`)
  // /dev/null must not be replaced by a file.
  return present && !present.isFile() ? kind.stream(await openStream(path), path) : kind.file(path, path)
}

const openStream = async (path: string): Promise<Output> => {
  const stream = createWriteStream(path)
  try {
    await once(stream, 'open')
  } catch (cause) {
    throw new InputError(`${path} cannot be written: ${(cause as Error).message}`, { cause })
  }
  // A failed write is reported to the writer; without a listener it would also end the process with a stack.
  return stream.on('error', () => {})
}
