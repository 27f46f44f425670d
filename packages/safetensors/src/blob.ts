import { SafeTensorsError } from './error.ts'
import { openSource, type TensorReader } from './tensor-reader.ts'

/**
 * Opens a safetensors file in a Blob: a file that a user chose or dropped, a cached download. Only the header
 * and the tensors asked for are read. Throws what openSource throws, and `read-failed` where the Blob cannot
 * be read (the file behind it was changed or removed).
 */
export const openBlob = (blob: Blob): Promise<TensorReader> =>
  openSource({
    size: blob.size,
    read: async (offset, length) => {
      try {
        return new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer())
      } catch (cause) {
        throw new SafeTensorsError(
          'read-failed',
          `${length} bytes at ${offset} of the Blob cannot be read: was its file changed or removed?`,
          { cause },
        )
      }
    },
  })
