import type { Activation } from '@pocket/nn'

/**
 * Elementwise functions in WGSL. Arguments of exp are kept where neither it nor what follows can overflow: a shader may
 * take infinities for impossible. erf is Abramowitz and Stegun 7.1.26, off by 1.5e-7 at most.
 */
const sources: Record<Exclude<Activation, 'none'>, string> = {
  elu: 'fn elu(x: f32) -> f32 { return select(exp(min(x, 0.0)) - 1.0, x, x > 0.0); }',
  silu: 'fn silu(x: f32) -> f32 { return x / (1.0 + exp(min(-x, 80.0))); }',
  gelu: `fn gelu(x: f32) -> f32 {
  let a = min(abs(x) * 0.7071067811865476, 9.0);
  let t = 1.0 / (1.0 + 0.3275911 * a);
  let series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  let magnitude = 1.0 - series * exp(-a * a);
  return 0.5 * x * (1.0 + select(-magnitude, magnitude, x >= 0.0));
}`,
}

/** Declarations for the activations that a kernel applies, each once. */
export const declareActivations = (...used: readonly Activation[]): string =>
  [...new Set(used)].map((activation) => (activation === 'none' ? '' : `${sources[activation]}\n`)).join('')

/** WGSL for the activation of a scalar. */
export const activated = (activation: Activation, value: string): string =>
  activation === 'none' ? value : `${activation}(${value})`

/** WGSL for the activation of the four parts of the variable `name`. */
export const activatedVector = (activation: Activation, name: string): string =>
  activation === 'none'
    ? name
    : `vec4f(${['x', 'y', 'z', 'w'].map((part) => `${activation}(${name}.${part})`).join(', ')})`
