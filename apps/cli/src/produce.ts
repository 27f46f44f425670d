import { type Io, write } from './io.ts'
import { createProgress, type Progress } from './progress.ts'

/** Of every command that makes a file. */
export interface OutputFlags {
  readonly outputPath: string
  readonly quiet?: boolean
}

/**
 * Runs `work`, shows how far it is and prints the line that it gives at the end: on standard output, or on standard
 * error where standard output is what was made. Whatever goes wrong, the destination is left as it was.
 */
export const produce = async (
  destination: { discard(): Promise<void> },
  { outputPath, quiet }: OutputFlags,
  io: Io,
  work: (progress: Progress) => Promise<string>,
): Promise<void> => {
  const progress = createProgress(io.stderr, !quiet)
  try {
    const result = await work(progress)
    progress.clear()
    if (!quiet) await write(outputPath === '-' ? io.stderr : io.stdout, `${result}\n`)
  } finally {
    progress.clear()
    await destination.discard()
  }
}
