/**
 * SHA-256 (FIPS 180-4), fed piece by piece. Written out because `crypto.subtle` is missing on pages that are not
 * served securely, and what is hashed here is small.
 */
export class Sha256 {
  readonly #state = Uint32Array.from(initialState)
  readonly #block = new Uint8Array(64)
  readonly #schedule = new Uint32Array(64)
  #length = 0

  update(bytes: Uint8Array): this {
    let position = 0
    while (position < bytes.length) {
      const filled = this.#length % 64
      const taken = bytes.subarray(position, position + 64 - filled)
      this.#block.set(taken, filled)
      this.#length += taken.length
      position += taken.length
      if (this.#length % 64 === 0) this.#compress()
    }
    return this
  }

  /** 64 hexadecimal digits. The hash takes no more bytes after this. */
  hex(): string {
    const bits = BigInt(this.#length) * 8n
    const padding = new Uint8Array(64 - ((this.#length + 8) % 64) + 8)
    padding[0] = 0x80
    new DataView(padding.buffer).setBigUint64(padding.length - 8, bits)
    this.update(padding)
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, '0')).join('')
  }

  #compress(): void {
    const words = this.#schedule
    const view = new DataView(this.#block.buffer)
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(4 * i)
    for (let i = 16; i < 64; i++) {
      const before15 = words[i - 15]!
      const before2 = words[i - 2]!
      const small0 = rotate(before15, 7) ^ rotate(before15, 18) ^ (before15 >>> 3)
      const small1 = rotate(before2, 17) ^ rotate(before2, 19) ^ (before2 >>> 10)
      words[i] = words[i - 16]! + small0 + words[i - 7]! + small1
    }
    let [a, b, c, d, e, f, g, h] = this.#state as unknown as Eight
    for (let i = 0; i < 64; i++) {
      const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      const chosen = (e & f) ^ (~e & g)
      const first = (h + big1 + chosen + roundConstants[i]! + words[i]!) | 0
      const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      const majority = (a & b) ^ (a & c) ^ (b & c)
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + big0 + majority) | 0
    }
    const worked = [a, b, c, d, e, f, g, h]
    for (const [i, word] of worked.entries()) this.#state[i] = this.#state[i]! + word
  }
}

type Eight = [number, number, number, number, number, number, number, number]

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

const firstPrimes = (count: number): number[] => {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return primes
}

/** The first 32 bits of the fraction of a root: the standard's "nothing up my sleeve" numbers. */
const fractionBits = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) >>> 0

const initialState = firstPrimes(8).map((prime) => fractionBits(Math.sqrt(prime)))
const roundConstants = Uint32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)))
