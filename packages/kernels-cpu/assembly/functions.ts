/** Elementwise functions on four lanes. NaN goes in and comes out: clamps are written so that it passes. */
import { madd } from './vector'

/** The codes of `Activation`, in the order of src/wasm/descriptors.ts. */
export namespace Activation {
  export const none = 0
  export const elu = 1
  export const gelu = 2
  export const silu = 3
}

/** Below `least` eˣ is no normal float32 and counts as 0; above `greatest` it would overflow. */
const least: f32 = -87.33
const greatest: f32 = 88.37

/** 1.5 · 2²³: adding it rounds to an integer, which the low bits of the sum then hold. */
const rounder: f32 = 12582912

/** x = n · ln 2 + r, |r| ≤ ln 2 / 2. The first term of ln 2 has so few bits that its product with n is exact. */
@inline
function remainder(x: v128, n: v128): v128 {
  const high = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)))
  return madd(n, f32x4.splat(2.12194440e-4), high)
}

/** (eʳ − 1 − r) / r² for |r| ≤ ln 2 / 2: the polynomial of Cephes' `expf` (S. Moshier). */
@inline
function exponentialTail(r: v128): v128 {
  let p = madd(f32x4.splat(1.9875691500e-4), r, f32x4.splat(1.3981999507e-3))
  p = madd(p, r, f32x4.splat(8.3334519073e-3))
  p = madd(p, r, f32x4.splat(4.1665795894e-2))
  p = madd(p, r, f32x4.splat(1.6666665459e-1))
  return madd(p, r, f32x4.splat(5.0000001201e-1))
}

/** eˣ − 1 on the reduced range: r + r² · tail. */
@inline
function reducedExpm1(r: v128): v128 {
  return madd(f32x4.mul(exponentialTail(r), r), r, r)
}

/** 2ⁿ, from the sum of n and `rounder`. */
@inline
function powerOfTwo(rounded: v128): v128 {
  return i32x4.add(i32x4.shl(rounded, 23), i32x4.splat(0x3f800000))
}

@inline
function roundedQuotient(x: v128): v128 {
  return madd(x, f32x4.splat(1.44269504088896341), f32x4.splat(rounder))
}

/** eˣ */
@inline
export function exponential(x: v128): v128 {
  const clamped = f32x4.pmin(f32x4.pmax(x, f32x4.splat(least)), f32x4.splat(greatest))
  const rounded = roundedQuotient(clamped)
  const r = remainder(clamped, f32x4.sub(rounded, f32x4.splat(rounder)))
  const e = f32x4.mul(f32x4.add(reducedExpm1(r), f32x4.splat(1)), powerOfTwo(rounded))
  return v128.andnot(e, f32x4.lt(x, f32x4.splat(least)))
}

/** x where x > 0, eˣ − 1 elsewhere, without the cancellation of a subtraction from eˣ near 0. */
@inline
function elu(x: v128): v128 {
  const negative = f32x4.pmax(f32x4.pmin(x, f32x4.splat(0)), f32x4.splat(least))
  const rounded = roundedQuotient(negative)
  const r = remainder(negative, f32x4.sub(rounded, f32x4.splat(rounder)))
  const power = powerOfTwo(rounded)
  const e = madd(reducedExpm1(r), power, f32x4.sub(power, f32x4.splat(1)))
  return v128.bitselect(x, e, f32x4.gt(x, f32x4.splat(0)))
}

/**
 * x · Φ(x), with Φ(−|x|) = erfc(z) / 2 and z = |x| / √2. erfc(z) = t · P(t) · exp(−z²), t = 1 / (1 + z / 2): P is our
 * own minimax fit (Remez, of relative error) over 0 ≤ z ≤ 9.5, within 4.3e-8.
 */
@inline
function gelu(x: v128): v128 {
  const size = f32x4.abs(x)
  const t = f32x4.div(f32x4.splat(1), madd(size, f32x4.splat(0.35355339059327379), f32x4.splat(1)))
  let p = madd(f32x4.splat(-0.05889062210917473), t, f32x4.splat(0.28370121121406555))
  p = madd(p, t, f32x4.splat(-0.4853821098804474))
  p = madd(p, t, f32x4.splat(0.275976300239563))
  p = madd(p, t, f32x4.splat(-0.02517639845609665))
  p = madd(p, t, f32x4.splat(0.20206928253173828))
  p = madd(p, t, f32x4.splat(0.24326114356517792))
  p = madd(p, t, f32x4.splat(0.2823534607887268))
  p = madd(p, t, f32x4.splat(0.28208768367767334))
  const gauss = exponential(f32x4.mul(f32x4.mul(x, x), f32x4.splat(-0.5)))
  const tail = f32x4.mul(f32x4.mul(f32x4.mul(p, t), gauss), f32x4.mul(size, f32x4.splat(0.5)))
  // |x| Φ(−|x|) is what is missing from x on the right, and all there is, negated, on the left.
  return f32x4.sub(f32x4.pmax(x, f32x4.splat(0)), tail)
}

/** x / (1 + e⁻ˣ) */
@inline
function silu(x: v128): v128 {
  return f32x4.div(x, f32x4.add(f32x4.splat(1), exponential(f32x4.neg(x))))
}

export function activated(x: v128, activation: i32): v128 {
  if (activation == Activation.gelu) return gelu(x)
  if (activation == Activation.elu) return elu(x)
  if (activation == Activation.silu) return silu(x)
  return x
}
