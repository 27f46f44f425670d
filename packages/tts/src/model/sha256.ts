/**
 * SHA-256 (FIPS 180-4), fed piece by piece. Written out because `crypto.subtle` wants all bytes at once, which for a
 * checkpoint are too many, and is missing on pages that are not served securely.
 */
export class Sha256 {
  readonly #state = Int32Array.from(initialState)
  readonly #block = new Uint8Array(blockBytes)
  #length = 0

  update(bytes: Uint8Array): this {
    const filled = this.#length % blockBytes
    this.#length += bytes.length
    let position = 0
    if (filled > 0) {
      position = Math.min(blockBytes - filled, bytes.length)
      this.#block.set(bytes.subarray(0, position), filled)
      if (filled + position < blockBytes) return this
      compress(this.#state, this.#block, 0)
    }
    for (; position + blockBytes <= bytes.length; position += blockBytes) {
      compress(this.#state, bytes, position)
    }
    this.#block.set(bytes.subarray(position))
    return this
  }

  /** 64 hexadecimal digits. The hash takes no more bytes after this. */
  hex(): string {
    const bits = BigInt(this.#length) * 8n
    const padding = new Uint8Array(blockBytes - ((this.#length + 8) % blockBytes) + 8)
    padding[0] = 0x80
    new DataView(padding.buffer).setBigUint64(padding.length - 8, bits)
    this.update(padding)
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  }
}

const blockBytes = 64

const schedule = new Int32Array(64)

/** Takes in the block at `start`. Everything is local and 32 bits wide, which makes it some ten times as fast. */
const compress = (state: Int32Array, bytes: Uint8Array, start: number): void => {
  const words = schedule
  for (let i = 0, at = start; i < 16; i++, at += 4) {
    words[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15]!
    const y = words[i - 2]!
    const small0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const small1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    words[i] = (words[i - 16]! + small0 + words[i - 7]! + small1) | 0
  }
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let i = 0; i < 64; i++) {
    const big1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const first = (h + big1 + ((e & f) ^ (~e & g)) + roundConstants[i]! + words[i]!) | 0
    const big0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
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
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

const firstPrimes = (count: number): number[] => {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return primes
}

/** The first 32 bits of the fraction of a root: the standard's "nothing up my sleeve" numbers. */
const fractionBits = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) >>> 0

const initialState = firstPrimes(8).map((prime) => fractionBits(Math.sqrt(prime)))
const roundConstants = Int32Array.from(firstPrimes(64), (prime) => fractionBits(Math.cbrt(prime)))
