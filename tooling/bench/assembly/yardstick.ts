/** What a processor can do at most with 128-bit vectors: the yardsticks that everything else is held against. */

/**
 * Reads `bytes` bytes as eight streams and does as little as possible with them: what memory gives one core. With two
 * streams a Xeon (Sapphire Rapids) read 151 MB at 14 GB/s, with four at 17, with eight at 19.
 */
export function read(address: usize, bytes: usize): i32 {
  const part = bytes >> 3
  let sum = i32x4.splat(0)
  for (let p = address; p < address + part; p += 64) {
    sum = v128.xor(sum, line(p))
    sum = v128.xor(sum, line(p + part))
    sum = v128.xor(sum, line(p + 2 * part))
    sum = v128.xor(sum, line(p + 3 * part))
    sum = v128.xor(sum, line(p + 4 * part))
    sum = v128.xor(sum, line(p + 5 * part))
    sum = v128.xor(sum, line(p + 6 * part))
    sum = v128.xor(sum, line(p + 7 * part))
  }
  return i32x4.extract_lane(sum, 0)
}

@inline
function line(p: usize): v128 {
  const start = v128.xor(v128.load(p), v128.load(p, 16))
  return v128.xor(start, v128.xor(v128.load(p, 32), v128.load(p, 48)))
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

/** Of `computeIntegers`: twelve vectors of eight pairs. */
export const integerOperationsPerTurn: i32 = 12 * 8 * 2

/** As `compute`, with the dot product of 16-bit integers, which adds pairs. */
export function computeIntegers(turns: i32, by: i32): i32 {
  const factor = i16x8.splat(<i16>by)
  let a = i16x8.splat(1)
  let b = i16x8.splat(2)
  let c = i16x8.splat(3)
  let d = i16x8.splat(4)
  let e = i16x8.splat(5)
  let f = i16x8.splat(6)
  let g = i16x8.splat(7)
  let h = i16x8.splat(8)
  let i = i16x8.splat(9)
  let j = i16x8.splat(10)
  let k = i16x8.splat(11)
  let l = i16x8.splat(12)
  for (let turn = 0; turn < turns; turn++) {
    a = addProducts(a, factor)
    b = addProducts(b, factor)
    c = addProducts(c, factor)
    d = addProducts(d, factor)
    e = addProducts(e, factor)
    f = addProducts(f, factor)
    g = addProducts(g, factor)
    h = addProducts(h, factor)
    i = addProducts(i, factor)
    j = addProducts(j, factor)
    k = addProducts(k, factor)
    l = addProducts(l, factor)
  }
  const abcd = i32x4.add(i32x4.add(a, b), i32x4.add(c, d))
  const efgh = i32x4.add(i32x4.add(e, f), i32x4.add(g, h))
  const ijkl = i32x4.add(i32x4.add(i, j), i32x4.add(k, l))
  return i32x4.extract_lane(i32x4.add(i32x4.add(abcd, efgh), ijkl), 0)
}

@inline
function addProducts(sums: v128, factor: v128): v128 {
  // Of the sums themselves: a product of what never changes would be taken out of the loop.
  return i32x4.add(sums, i32x4.dot_i16x8_s(sums, factor))
}
