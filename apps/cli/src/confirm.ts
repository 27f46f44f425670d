import { createInterface } from 'node:readline'
import { InputError } from './errors.ts'
import { type Io, write } from './io.ts'

/** Asks a person; only yes is yes. Throws InputError where nobody is there to answer. */
export const confirm = async (question: string, { stdin, stdout, signal }: Io): Promise<boolean> => {
  if (!stdin.isTTY) throw new InputError('nobody can be asked here; give --yes if you are sure')
  await write(stdout, `${question} [y/N] `)
  // Not as a terminal: readline would take Ctrl-C for itself.
  const lines = createInterface({ input: stdin, terminal: false, signal })
  for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line)
  signal.throwIfAborted()
  return false
}
