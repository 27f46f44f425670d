type Bytes = Uint8Array | Float32Array

/** The buffers that go to another thread with a message, in place of being copied by it. */
export class Parcel {
  readonly transfer: ArrayBuffer[] = []

  /** For large bytes: they leave this thread, and the array is empty afterwards, wherever nothing else uses its buffer. */
  move<Array extends Bytes>(bytes: Array): Array {
    const { buffer } = bytes
    if (!(buffer instanceof ArrayBuffer)) return bytes // Shared memory is there and here.
    if (bytes.length === 0 || bytes.byteLength < buffer.byteLength) return this.copy(bytes)
    this.transfer.push(buffer)
    return bytes
  }

  /**
   * For the rest: a copy goes, and the array stays as it is. A message would copy the whole buffer that it lies in.
   * What is no such array is for the other side to refuse.
   */
  copy<Array extends Bytes>(bytes: Array): Array {
    const isOurs = bytes instanceof Uint8Array || bytes instanceof Float32Array
    if (!isOurs || !(bytes.buffer instanceof ArrayBuffer)) return bytes
    const copy = bytes instanceof Float32Array ? new Float32Array(bytes) : new Uint8Array(bytes)
    this.transfer.push(copy.buffer)
    return copy as Array
  }
}
