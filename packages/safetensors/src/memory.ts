import { SafeTensorsError } from './error.ts'

/** A zeroed buffer. Throws `out-of-memory` where the engine would throw a RangeError. */
export const allocate = (byteLength: number): ArrayBuffer => {
  try {
    return new ArrayBuffer(byteLength)
  } catch (cause) {
    throw new SafeTensorsError('out-of-memory', `no memory for ${byteLength} bytes`, { cause })
  }
}

export const copyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
  const copy = new Uint8Array(allocate(bytes.length))
  copy.set(bytes)
  return copy
}

/** The bytes of any view as a plain Uint8Array: Node's Buffer is one too, but its `slice` does not copy. */
export const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

/** The same bytes where a typed array with elements of `alignment` bytes can view them; a copy if need be. */
export const aligned = (bytes: Uint8Array, alignment: number): Uint8Array =>
  bytes.byteOffset % alignment === 0 ? bytes : copyOf(bytes)
