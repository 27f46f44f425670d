/**
 * Whether this machine's dot product of 8-bit and 7-bit integers computes what digit-product.ts needs: exact sums of
 * four products, whatever the weights, of digits from 0 to 127. Engines have shipped one that gives twice the product.
 * False in a build without the instruction.
 */
export function multipliesDigits(): bool {
  if (ASC_FEATURE_RELAXED_SIMD) return passes()
  else return false
}

const weights = memory.data<i8>([-128, -127, -1, 0, 1, 2, 64, 127])
const digits = memory.data<u8>([0, 1, 2, 63, 64, 65, 126, 127])
const values = 8

/** Every pair of weights with every pair of digits, each twice, added to a sum that wraps around. */
function passes(): bool {
  for (let pair = 0; pair < values * values; pair++) {
    const first: i32 = load<i8>(weights + pair / values)
    const second: i32 = load<i8>(weights + (pair % values))
    for (let other = 0; other < values * values; other++) {
      const third: i32 = load<u8>(digits + other / values)
      const fourth: i32 = load<u8>(digits + (other % values))
      const sum: i32 = pair & 1 ? i32.MAX_VALUE : i32.MIN_VALUE
      const found = i32x4.relaxed_dot_i8x16_i7x16_add_s(
        i16x8.splat(<i16>((first & 255) | (second << 8))),
        i16x8.splat(<i16>(third | (fourth << 8))),
        i32x4.splat(sum),
      )
      const expected = i32x4.splat(sum + 2 * (first * third + second * fourth))
      if (!i32x4.all_true(i32x4.eq(found, expected))) return false
    }
  }
  return true
}

const work = memory.data(64, 16)

/**
 * What is computed is of no interest, only how long 64 weights take, `turns` times. One function for both ways, since
 * engines optimise whole functions: both ways at once.
 */
export function repeatProducts(asDigits: bool, turns: i32): i32 {
  return asDigits ? repeatDigits(turns) : repeatPairs(turns)
}

/** The inner loop of digit-product.ts. */
@inline
function repeatDigits(turns: i32): i32 {
  let a = i32x4.splat(0)
  let b = a
  let c = a
  let d = a
  let e = a
  let f = a
  let g = a
  let h = a
  if (ASC_FEATURE_RELAXED_SIMD) {
    for (let i = 0; i < turns; i++) {
      const high = v128.load32_splat(work)
      const low = v128.load32_splat(work, 4)
      let w = v128.load(work)
      a = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, high, a)
      b = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, low, b)
      w = v128.load(work, 16)
      c = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, high, c)
      d = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, low, d)
      w = v128.load(work, 32)
      e = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, high, e)
      f = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, low, f)
      w = v128.load(work, 48)
      g = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, high, g)
      h = i32x4.relaxed_dot_i8x16_i7x16_add_s(w, low, h)
    }
  }
  return lane(a, b, c, d) + lane(e, f, g, h)
}

/** That of integer-product.ts. */
@inline
function repeatPairs(turns: i32): i32 {
  let a = i32x4.splat(0)
  let b = a
  let c = a
  let d = a
  let e = a
  let f = a
  let g = a
  let h = a
  for (let i = 0; i < turns; i++) {
    let x = v128.load32_splat(work)
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load8x8_s(work), x))
    b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load8x8_s(work, 8), x))
    c = i32x4.add(c, i32x4.dot_i16x8_s(v128.load8x8_s(work, 16), x))
    d = i32x4.add(d, i32x4.dot_i16x8_s(v128.load8x8_s(work, 24), x))
    x = v128.load32_splat(work, 4)
    e = i32x4.add(e, i32x4.dot_i16x8_s(v128.load8x8_s(work, 32), x))
    f = i32x4.add(f, i32x4.dot_i16x8_s(v128.load8x8_s(work, 40), x))
    g = i32x4.add(g, i32x4.dot_i16x8_s(v128.load8x8_s(work, 48), x))
    h = i32x4.add(h, i32x4.dot_i16x8_s(v128.load8x8_s(work, 56), x))
  }
  return lane(a, b, c, d) + lane(e, f, g, h)
}

@inline
function lane(a: v128, b: v128, c: v128, d: v128): i32 {
  return i32x4.extract_lane(i32x4.add(i32x4.add(a, b), i32x4.add(c, d)), 0)
}
