import { InputError } from './errors.ts'
import type { Io } from './io.ts'
import { openInput, readWhole } from './open-input.ts'

/** More text than a long novel is a mistake (a recording, a disk image), and would be held in memory. */
const limit = { mostBytes: 16 * 1024 * 1024, advice: 'split the text' }

/** The text of the argument or of --text; of standard input where that is `-`. Throws InputError. */
export const readText = async (
  argument: string | undefined,
  option: string | undefined,
  io: Pick<Io, 'stdin' | 'signal'>,
): Promise<string> => {
  if (argument !== undefined && option !== undefined) {
    throw new InputError('the text is given twice, as an argument and with --text; give it once')
  }
  const text = argument ?? option
  if (text === undefined) {
    throw new InputError('nothing to say: give a text in quotes, or - to read it from standard input')
  }
  return text === '-' ? decode(await readWhole(await openInput('-', io), limit)) : text
}

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new InputError('standard input is not UTF-8 text; convert it first', { cause })
  }
}
