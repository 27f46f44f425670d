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

/** The same of `computeIntegers`: twelve vectors of eight pairs. */
export const integerOperationsPerTurn: i32 = 12 * 8 * 2

export function compute(turns: i32, by: f32): f32 {
  return f32x4.extract_lane(sumOfTurns<f32>(turns, by), 0)
}

/** As `compute`, with the dot product of 16-bit integers, which adds pairs. */
export function computeIntegers(turns: i32, by: i32): i32 {
  return i32x4.extract_lane(sumOfTurns<i16>(turns, <i16>by), 0)
}

/** Twelve sums that wait for nothing but themselves, and no memory: more than the units of any core need to be busy. */
@inline
function sumOfTurns<T>(turns: i32, by: T): v128 {
  // Not a constant: V8 (13.6) would build it anew at every use.
  const factor = v128.splat<T>(by)
  let a = v128.splat<T>(<T>1)
  let b = v128.splat<T>(<T>2)
  let c = v128.splat<T>(<T>3)
  let d = v128.splat<T>(<T>4)
  let e = v128.splat<T>(<T>5)
  let f = v128.splat<T>(<T>6)
  let g = v128.splat<T>(<T>7)
  let h = v128.splat<T>(<T>8)
  let i = v128.splat<T>(<T>9)
  let j = v128.splat<T>(<T>10)
  let k = v128.splat<T>(<T>11)
  let l = v128.splat<T>(<T>12)
  for (let turn = 0; turn < turns; turn++) {
    a = addProducts<T>(a, factor)
    b = addProducts<T>(b, factor)
    c = addProducts<T>(c, factor)
    d = addProducts<T>(d, factor)
    e = addProducts<T>(e, factor)
    f = addProducts<T>(f, factor)
    g = addProducts<T>(g, factor)
    h = addProducts<T>(h, factor)
    i = addProducts<T>(i, factor)
    j = addProducts<T>(j, factor)
    k = addProducts<T>(k, factor)
    l = addProducts<T>(l, factor)
  }
  const abcd = add<T>(add<T>(a, b), add<T>(c, d))
  const efgh = add<T>(add<T>(e, f), add<T>(g, h))
  const ijkl = add<T>(add<T>(i, j), add<T>(k, l))
  return add<T>(add<T>(abcd, efgh), ijkl)
}

@inline
function addProducts<T>(sums: v128, factor: v128): v128 {
  // Of the sums themselves: a product of what never changes would be taken out of the loop.
  if (isInteger<T>()) return add<T>(sums, i32x4.dot_i16x8_s(sums, factor))
  // As a sum of products, in place: any other order of the operands costs V8 a move.
  else if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(factor, factor, sums)
  else return add<T>(f32x4.mul(sums, factor), factor)
}

/** Sums of integers have 32 bits. */
@inline
function add<T>(a: v128, b: v128): v128 {
  if (isInteger<T>()) return i32x4.add(a, b)
  else return f32x4.add(a, b)
}
