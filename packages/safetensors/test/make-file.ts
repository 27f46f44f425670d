import { SafeTensorsError, type SafeTensorsErrorCode } from '@pocket/safetensors'

/** A file of any header, sound or not, and as many zero bytes as its tensors should have. */
export const makeFile = (header: string | Uint8Array, data: number | Uint8Array = 0): Uint8Array => {
  const text = typeof header === 'string' ? new TextEncoder().encode(header) : header
  const bytes = typeof data === 'number' ? new Uint8Array(data) : data
  const file = new Uint8Array(8 + text.length + bytes.length)
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true)
  file.set(text, 8)
  file.set(bytes, 8 + text.length)
  return file
}

/** The SafeTensorsError that `work` must end in; any other outcome is rethrown or reported. */
export const failure = async (work: () => unknown): Promise<SafeTensorsError> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof SafeTensorsError) return error
    throw error
  }
  throw new Error('expected a SafeTensorsError, but nothing was thrown')
}

export const failureCode = async (work: () => unknown): Promise<SafeTensorsErrorCode> =>
  (await failure(work)).code

/** Equality of large arrays, far faster than that of an assertion library; tells NaNs and zeros apart. */
export const sameBytes = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(
    Buffer.from(a.buffer, a.byteOffset, a.byteLength),
    Buffer.from(b.buffer, b.byteOffset, b.byteLength),
  ) === 0
