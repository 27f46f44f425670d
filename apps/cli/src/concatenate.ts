/** Pieces end to end, as one array. */
export const concatenate = (pieces: readonly Float32Array[]): Float32Array => {
  const whole = new Float32Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let position = 0
  for (const piece of pieces) {
    whole.set(piece, position)
    position += piece.length
  }
  return whole
}
