import type { Readable, Writable } from 'node:stream'

/** What the command line works on: the process's own streams, or others in a test. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted with an `Interrupted` when the user wants to stop. */
  readonly signal: AbortSignal
}

/** `columns` is how wide a terminal is. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** Writes and waits until the stream has taken it. Rejects with the stream's error, e.g. EPIPE. */
export const write = (output: Output, chunk: Uint8Array | string): Promise<void> =>
  new Promise((resolve, reject) => {
    output.write(chunk, (error) => (error ? reject(error) : resolve()))
  })
