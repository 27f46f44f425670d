/** Elementwise functions on four lanes. NaN goes in and comes out: clamps are written so that it passes. */
import { madd } from './vector'

/** The codes of `Activation`, in the order of src/wasm/descriptors.ts. */
export namespace Activation {
  export const none = 0
  export const elu = 1
  export const gelu = 2
  export const silu = 3
}

/**
 * Numbers that vectors are filled with lie in memory, and `splat` loads them: V8 (13.6) builds a constant vector anew
 * at every use, even in a loop, which made these functions half as fast again.
 */
@inline
function splat(number: usize): v128 {
  return v128.load32_splat(number)
}

/** Below `least` eˣ is no normal float32 and counts as 0; above `greatest` it would overflow. */
const least = memory.data<f32>([-87.33])
const greatest = memory.data<f32>([88.37])

const half = memory.data<f32>([0.5])
const one = memory.data<f32>([1])

/** 1.5 · 2²³: adding it rounds to an integer, which the low bits of the sum then hold. */
const rounder = memory.data<f32>([12582912])
const inverseLn2 = memory.data<f32>([1.44269504088896341])
/** Two parts of ln 2, the first with so few bits that its product with an exponent is exact. */
const ln2High = memory.data<f32>([0.693359375])
const ln2Low = memory.data<f32>([2.12194440e-4])

/** x = n · ln 2 + r, |r| ≤ ln 2 / 2. */
@inline
function remainder(x: v128, n: v128): v128 {
  return madd(n, splat(ln2Low), f32x4.sub(x, f32x4.mul(n, splat(ln2High))))
}

/** (eʳ − 1 − r) / r² for |r| ≤ ln 2 / 2: the polynomial of Cephes' `expf` (S. Moshier). */
const expTail0 = memory.data<f32>([5.0000001201e-1])
const expTail1 = memory.data<f32>([1.6666665459e-1])
const expTail2 = memory.data<f32>([4.1665795894e-2])
const expTail3 = memory.data<f32>([8.3334519073e-3])
const expTail4 = memory.data<f32>([1.3981999507e-3])
const expTail5 = memory.data<f32>([1.9875691500e-4])

/** eʳ − 1 on the reduced range: r + r² · tail. */
@inline
function reducedExpm1(r: v128): v128 {
  let p = madd(splat(expTail5), r, splat(expTail4))
  p = madd(p, r, splat(expTail3))
  p = madd(p, r, splat(expTail2))
  p = madd(p, r, splat(expTail1))
  p = madd(p, r, splat(expTail0))
  return madd(f32x4.mul(p, r), r, r)
}

/** 2ⁿ, from the sum of n and `rounder`: n moves into the exponent of 1. */
@inline
function powerOfTwo(rounded: v128): v128 {
  return i32x4.add(i32x4.shl(rounded, 23), splat(one))
}

@inline
function roundedQuotient(x: v128): v128 {
  return madd(x, splat(inverseLn2), splat(rounder))
}

/** eˣ */
@inline
export function exponential(x: v128): v128 {
  const clamped = f32x4.pmin(f32x4.pmax(x, splat(least)), splat(greatest))
  const rounded = roundedQuotient(clamped)
  const r = remainder(clamped, f32x4.sub(rounded, splat(rounder)))
  const e = f32x4.mul(f32x4.add(reducedExpm1(r), splat(one)), powerOfTwo(rounded))
  return v128.andnot(e, f32x4.lt(x, splat(least)))
}

/** x where x > 0, eˣ − 1 elsewhere, without the cancellation of a subtraction from eˣ near 0. */
@inline
function elu(x: v128): v128 {
  const zero = f32x4.splat(0)
  const negative = f32x4.pmax(f32x4.pmin(x, zero), splat(least))
  const rounded = roundedQuotient(negative)
  const r = remainder(negative, f32x4.sub(rounded, splat(rounder)))
  const power = powerOfTwo(rounded)
  const e = madd(reducedExpm1(r), power, f32x4.sub(power, splat(one)))
  return v128.bitselect(x, e, f32x4.gt(x, zero))
}

/**
 * erfc(z) = t · P(t) · exp(−z²), t = 1 / (1 + z / 2). P is our own minimax fit (Remez, of relative error) over
 * 0 ≤ z ≤ 9.5, within 4.3e-8.
 */
const erfc0 = memory.data<f32>([0.28208768367767334])
const erfc1 = memory.data<f32>([0.2823534607887268])
const erfc2 = memory.data<f32>([0.24326114356517792])
const erfc3 = memory.data<f32>([0.20206928253173828])
const erfc4 = memory.data<f32>([-0.02517639845609665])
const erfc5 = memory.data<f32>([0.275976300239563])
const erfc6 = memory.data<f32>([-0.4853821098804474])
const erfc7 = memory.data<f32>([0.28370121121406555])
const erfc8 = memory.data<f32>([-0.05889062210917473])
/** z = |x| / √2, so z / 2 is |x| times this. */
const inverseSqrt8 = memory.data<f32>([0.35355339059327379])
const minusHalf = memory.data<f32>([-0.5])

/** x · Φ(x), with Φ(−|x|) = erfc(z) / 2 and z = |x| / √2. */
@inline
function gelu(x: v128): v128 {
  const size = f32x4.abs(x)
  const t = f32x4.div(splat(one), madd(size, splat(inverseSqrt8), splat(one)))
  let p = madd(splat(erfc8), t, splat(erfc7))
  p = madd(p, t, splat(erfc6))
  p = madd(p, t, splat(erfc5))
  p = madd(p, t, splat(erfc4))
  p = madd(p, t, splat(erfc3))
  p = madd(p, t, splat(erfc2))
  p = madd(p, t, splat(erfc1))
  p = madd(p, t, splat(erfc0))
  const gauss = exponential(f32x4.mul(f32x4.mul(x, x), splat(minusHalf)))
  const tail = f32x4.mul(f32x4.mul(f32x4.mul(p, t), gauss), f32x4.mul(size, splat(half)))
  // |x| Φ(−|x|) is what is missing from x on the right, and all there is, negated, on the left.
  return f32x4.sub(f32x4.pmax(x, f32x4.splat(0)), tail)
}

/** x / (1 + e⁻ˣ) */
@inline
function silu(x: v128): v128 {
  return f32x4.div(x, f32x4.add(splat(one), exponential(f32x4.neg(x))))
}

/** To be inlined where the activation is a constant, and the decision with it. */
@inline
export function activatedBy(x: v128, activation: i32): v128 {
  if (activation == Activation.gelu) return gelu(x)
  if (activation == Activation.elu) return elu(x)
  if (activation == Activation.silu) return silu(x)
  return x
}

export function activated(x: v128, activation: i32): v128 {
  return activatedBy(x, activation)
}
