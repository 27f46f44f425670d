/** What a processor can do at most with 128-bit vectors: the yardsticks that everything else is held against. */

/** Reads `bytes` bytes as two streams and does as little as possible with them: what memory gives one core. */
export function read(address: usize, bytes: usize): i32 {
  const half = bytes >> 1
  let a = i32x4.splat(0)
  let b = a
  let c = a
  let d = a
  for (let p = address; p < address + half; p += 64) {
    a = v128.xor(a, v128.xor(v128.load(p), v128.load(p + half)))
    b = v128.xor(b, v128.xor(v128.load(p, 16), v128.load(p + half, 16)))
    c = v128.xor(c, v128.xor(v128.load(p, 32), v128.load(p + half, 32)))
    d = v128.xor(d, v128.xor(v128.load(p, 48), v128.load(p + half, 48)))
  }
  return i32x4.extract_lane(v128.xor(v128.xor(a, b), v128.xor(c, d)), 0)
}

/** Multiplications and additions of one turn of `compute`: twelve vectors of four lanes. */
export const operationsPerTurn: i32 = 12 * 4 * 2

/** Twelve sums that wait for nothing but themselves, and no memory: more than the units of any core need to be busy. */
export function compute(turns: i32, by: f32): f32 {
  // Not a constant: V8 (13.6) would build it anew at every use.
  const factor = f32x4.splat(by)
  let a = f32x4.splat(1)
  let b = f32x4.splat(2)
  let c = f32x4.splat(3)
  let d = f32x4.splat(4)
  let e = f32x4.splat(5)
  let f = f32x4.splat(6)
  let g = f32x4.splat(7)
  let h = f32x4.splat(8)
  let i = f32x4.splat(9)
  let j = f32x4.splat(10)
  let k = f32x4.splat(11)
  let l = f32x4.splat(12)
  for (let turn = 0; turn < turns; turn++) {
    a = madd(a, factor)
    b = madd(b, factor)
    c = madd(c, factor)
    d = madd(d, factor)
    e = madd(e, factor)
    f = madd(f, factor)
    g = madd(g, factor)
    h = madd(h, factor)
    i = madd(i, factor)
    j = madd(j, factor)
    k = madd(k, factor)
    l = madd(l, factor)
  }
  const abcd = f32x4.add(f32x4.add(a, b), f32x4.add(c, d))
  const efgh = f32x4.add(f32x4.add(e, f), f32x4.add(g, h))
  const ijkl = f32x4.add(f32x4.add(i, j), f32x4.add(k, l))
  return f32x4.extract_lane(f32x4.add(f32x4.add(abcd, efgh), ijkl), 0)
}

@inline
function madd(x: v128, factor: v128): v128 {
  // As a sum of products, in place: any other order of the operands costs V8 a move.
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(factor, factor, x)
  else return f32x4.add(f32x4.mul(x, factor), factor)
}
