/**
 * Relative L2 against the golden data for a whole pass in float32, in any order of summation: what the fixtures' README
 * derives from float32 against float64 (at most 8.7e-7).
 */
export const wholePass = 5e-5
