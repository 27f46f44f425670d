/** `length` values between −scale and scale, the same at every call. */
export const noise = (length: number, scale: number): Float32Array<ArrayBuffer> => {
  const values = new Float32Array(length)
  let state = 0x9e3779b9
  for (let i = 0; i < length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    values[i] = state * 2 ** -31 * scale
  }
  return values
}
