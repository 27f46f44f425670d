/**
 * Marsaglia's xorshift64 with shifts 13, 7, 17: period 2⁶⁴ − 1, the new state is the output.
 * The state lives in two signed 32-bit halves, so that drawing creates no BigInt and no garbage.
 */
export class Xorshift64 {
  #high: number
  #low: number

  /** @param state 64 bits, not 0 (which the generator would never leave) */
  constructor(state: bigint) {
    this.#high = Number(BigInt.asIntN(32, state >> 32n))
    this.#low = Number(BigInt.asIntN(32, state))
  }

  /** The top 53 bits of the next output over 2⁵³: uniform in [0, 1), every value exact. */
  uniform(): number {
    let high = this.#high
    let low = this.#low
    high ^= (high << 13) | (low >>> 19)
    low ^= low << 13
    low ^= (low >>> 7) | (high << 25)
    high ^= high >>> 7
    high ^= (high << 17) | (low >>> 15)
    low ^= low << 17
    this.#high = high
    this.#low = low
    return (high >>> 0) * 2 ** -32 + (low >>> 11) * 2 ** -53
  }
}
