/**
 * The noise that PyTorch's CPU generator draws after `torch.manual_seed(seed)`, row by row: MT19937 (Matsumoto and
 * Nishimura, 1998) and the Box–Muller transform over blocks of 16 uniforms, as `Tensor.normal_` does for float32
 * tensors of 16 values or more (aten/src/ATen/native/cpu/DistributionTemplates.h). With it, an utterance is the
 * reference's own, and its length can be compared to the frame.
 */
export class TorchNoise {
  readonly #state: Uint32Array
  #used = 624

  /** @param discardedRows rows of 32 drawn before the first: the reference's prompt pass samples a latent and drops it */
  constructor(seed: number, discardedRows = 1) {
    this.#state = seededState(seed)
    for (let row = 0; row < discardedRows; row++) this.next(32)
  }

  /** Unit normals. `length` is a multiple of 16. */
  next(length: number): Float32Array {
    const values = Float32Array.from({ length }, () => (this.#word() & 0xffffff) / 2 ** 24)
    for (let block = 0; block < length; block += 16) {
      for (let i = block; i < block + 8; i++) {
        const radius = Math.sqrt(-2 * Math.log(1 - values[i]!))
        const angle = 2 * Math.PI * values[i + 8]!
        values[i] = radius * Math.cos(angle)
        values[i + 8] = radius * Math.sin(angle)
      }
    }
    return values
  }

  #word(): number {
    if (this.#used === 624) {
      twist(this.#state)
      this.#used = 0
    }
    let y = this.#state[this.#used++]!
    y ^= y >>> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    return (y ^ (y >>> 18)) >>> 0
  }
}

const seededState = (seed: number): Uint32Array => {
  const state = new Uint32Array(624)
  state[0] = seed
  for (let i = 1; i < 624; i++) {
    const last = state[i - 1]!
    state[i] = Math.imul(1812433253, last ^ (last >>> 30)) + i
  }
  return state
}

const twist = (state: Uint32Array): void => {
  for (let i = 0; i < 624; i++) {
    const y = (state[i]! & 0x80000000) | (state[(i + 1) % 624]! & 0x7fffffff)
    state[i] = state[(i + 397) % 624]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
  }
}
