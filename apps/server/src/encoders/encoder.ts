/** Turns frames of mono samples into the bytes of one file, each as soon as it can be known. */
export type Encoder = ReadableWritablePair<Uint8Array, Float32Array>
