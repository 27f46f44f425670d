import { ReplacementFile } from '@pocket/tts/node'
import { type Output, write } from '../io.ts'

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
  const file = await ReplacementFile.create(path)
  return {
    label,
    async write(bytes) {
      await file.append(bytes)
      await file.finish()
    },
    discard: () => file.discard(),
  }
}

export const bytesStream = (output: Output, label: string): BytesDestination => ({
  label,
  write: (bytes) => write(output, bytes),
  discard: async () => {},
})
