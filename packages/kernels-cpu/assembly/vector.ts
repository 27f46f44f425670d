/** Four float32 lanes at a time, and the one to three values that a row may have left over. */

/** a · b + c. Two roundings; in the relaxed build one, on machines that have a fused multiply-add. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c)
  else return f32x4.add(f32x4.mul(a, b), c)
}

@inline
export function sumOfLanes(v: v128): f32 {
  const pairs = f32x4.add(v, v128.shuffle<i32>(v, v, 2, 3, 0, 1))
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1)
}

@inline
export function greatestLane(v: v128): f32 {
  const pairs = f32x4.pmax(v, v128.shuffle<i32>(v, v, 2, 3, 0, 1))
  return max(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1))
}

/** All ones in the first `count` lanes, zeros in the others. */
@inline
export function firstLanes(count: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count))
}

/** Four values, or the first `count` of them and zeros where fewer are left: nothing past them is read. */
@inline
export function loadUpTo(at: usize, count: i32): v128 {
  return count >= 4 ? v128.load(at) : loadPart(at, count)
}

/** Stores four values, or the first `count` of them where fewer are left. */
@inline
export function storeUpTo(at: usize, v: v128, count: i32): void {
  if (count >= 4) v128.store(at, v)
  else storePart(at, v, count)
}

function loadPart(at: usize, count: i32): v128 {
  if (count <= 0) return f32x4.splat(0)
  if (count == 1) return v128.load32_zero(at)
  const pair = v128.load64_zero(at)
  return count == 2 ? pair : f32x4.replace_lane(pair, 2, f32.load(at, 8))
}

function storePart(at: usize, v: v128, count: i32): void {
  if (count <= 0) return
  if (count == 1) {
    f32.store(at, f32x4.extract_lane(v, 0))
    return
  }
  v128.store64_lane(at, v, 0)
  if (count == 3) f32.store(at, f32x4.extract_lane(v, 2), 8)
}
