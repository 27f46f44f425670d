/**
 * Folds a weight norm into the weight that it stands for: `g · v / ‖v‖`, the norm over all but the first dimension
 * (`torch._weight_norm` with dim 0). A row without direction is zero where its length is too, as in a blank encoder;
 * else it has no meaning, and `fail` makes the error.
 *
 * @param v `[rows, …]` row-major
 * @param g one value a row, `[rows, 1, …]`
 * @returns the weight, of the shape of `v`
 */
export const foldWeightNorm = (
  v: Float32Array,
  g: Float32Array,
  fail: (problem: string) => Error,
): Float32Array => {
  const rows = g.length
  const width = v.length / rows
  const weight = new Float32Array(v.length)
  for (let row = 0; row < rows; row++) {
    const start = row * width
    let squares = 0
    for (let i = start; i < start + width; i++) squares += v[i]! ** 2
    if (squares === 0 && g[row] === 0) continue
    if (!(squares > 0)) throw fail(`row ${row} of its weight norm has no direction`)
    const scale = g[row]! / Math.sqrt(squares)
    for (let i = start; i < start + width; i++) weight[i] = v[i]! * scale
  }
  return weight
}
