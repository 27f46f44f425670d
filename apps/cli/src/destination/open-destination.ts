import { createWriteStream, type Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { InputError } from '../errors.ts'
import type { Io } from '../io.ts'
import type { Destination } from './destination.ts'
import { fileDestination } from './file-destination.ts'
import { streamDestination } from './stream-destination.ts'

/**
 * Opens what --output-path names, before anything is computed: a file, a device or named pipe, or standard output
 * for `-`. Throws InputError where nothing can be written there.
 */
export const openDestination = async (path: string, { stdout }: Pick<Io, 'stdout'>): Promise<Destination> => {
  if (path === '-') {
    if (!stdout.isTTY) return streamDestination(stdout, 'standard output')
    throw new InputError(
      'standard output is a terminal; pipe it to a player, redirect it, or give -o a file name',
    )
  }
  if (path === '') throw new InputError('the output path is empty; give a file name')
  // A link stays a link: what it leads to is written.
  const target = await realpath(path).catch(() => resolve(path))
  const present = await stat(target).catch(() => undefined)
  if (present?.isDirectory()) throw new InputError(`${path} is a folder; name a file in it`)
  try {
    return await openTarget(target, path, present)
  } catch (cause) {
    throw new InputError(`${path} cannot be written: ${reason(cause, target)}`, { cause })
  }
}

const openTarget = async (
  target: string,
  label: string,
  present: Stats | undefined,
): Promise<Destination> => {
  if (!present || present.isFile()) return fileDestination(target, label)
  // /dev/null must not be replaced by a file.
  return streamDestination(createWriteStream(target), label)
}

const reason = (cause: unknown, target: string): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT') return `there is no folder ${dirname(target)}`
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'you may not write there'
  return message
}
