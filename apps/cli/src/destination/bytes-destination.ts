import { type Output, write } from '../io.ts'
import { openReplacement } from './replacement.ts'

/** Where something goes that is written all at once. */
export interface BytesDestination {
  /** How messages call it. */
  readonly label: string
  /** Called once, with everything. */
  write(bytes: Uint8Array): Promise<void>
  /** Something went wrong: leaves no partial file. Does nothing after `write`. */
  discard(): Promise<void>
}

export const bytesFile = async (path: string, label: string): Promise<BytesDestination> => {
  const { file, commit, discard } = await openReplacement(path)
  return {
    label,
    async write(bytes) {
      await file.writeFile(bytes)
      await commit()
    },
    discard,
  }
}

export const bytesStream = (output: Output, label: string): BytesDestination => ({
  label,
  write: (bytes) => write(output, bytes),
  discard: async () => {},
})
