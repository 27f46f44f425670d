import type { Activation } from '@pocket/nn'

/** erf by its series of positive terms, `2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!`: exact to double rounding. */
const erf = (x: number): number => {
  if (Math.abs(x) > 6) return Math.sign(x)
  let term = x
  let sum = x
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1)
    sum += term
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum
}

export const activations: Record<Activation, (x: number) => number> = {
  none: (x) => x,
  elu: (x) => (x > 0 ? x : Math.expm1(x)),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  silu: (x) => x / (1 + Math.exp(-x)),
}
