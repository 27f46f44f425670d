import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { addAbortSignal } from 'node:stream'
import { InputError } from './errors.ts'
import type { Io } from './io.ts'

/** A file that is read from its beginning to its end, or standard input. */
export interface Input {
  /** How messages call it. */
  readonly label: string
  /** In bytes; undefined where that is not known. */
  readonly size: number | undefined
  /** Can be read once. Throws the reason of the user's interruption. */
  readonly pieces: AsyncIterable<Uint8Array>
  /** Needed where the pieces are not read to their end. */
  close(): void
}

/** Opens a file, a named pipe, or standard input for `-`. Throws InputError. */
export const openInput = async (path: string, io: Pick<Io, 'stdin' | 'signal'>): Promise<Input> => {
  if (path === '-') return inputOf(io.stdin, 'standard input', undefined, io.signal)
  const file = await open(path).catch((cause) => {
    throw new InputError(`${path} cannot be read: ${reason(cause)}`, { cause })
  })
  const status = await file.stat()
  if (status.isDirectory()) {
    await file.close()
    throw new InputError(`${path} is a folder; name a file in it`)
  }
  const size = status.isFile() ? status.size : undefined
  return inputOf(file.createReadStream(), path, size, io.signal)
}

/** Everything that an input holds. Throws InputError beyond `mostBytes`, with `advice` on what to do then. */
export const readWhole = async (
  { label, pieces }: Input,
  { mostBytes, advice }: { readonly mostBytes: number; readonly advice: string },
): Promise<Uint8Array> => {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > mostBytes) throw new InputError(`${label} holds more than ${mostBytes} bytes; ${advice}`)
    read.push(piece)
  }
  return Buffer.concat(read)
}

const inputOf = (stream: Readable, label: string, size: number | undefined, signal: AbortSignal): Input => ({
  label,
  size,
  pieces: interruptible(stream, signal),
  close: () => stream.destroy(),
})

async function* interruptible(stream: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* addAbortSignal(signal, stream)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

const reason = ({ code, message }: NodeJS.ErrnoException): string => {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'you may not read it'
  return message
}
