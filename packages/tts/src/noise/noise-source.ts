/**
 * Where the randomness of speech comes from. The driver asks for one row per step, in order, scales it by
 * √temperature and gives it to the flow head, so that equal sources give equal utterances on every backend.
 */
export interface NoiseSource {
  /** The next `length` independent values of N(0, 1), in a new array. */
  next(length: number): Float32Array
}
