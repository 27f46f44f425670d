/** What happened since the beginning of an utterance. */
export interface RingMetrics {
  /** Samples that left the ring. */
  readonly played: number
  /** Times the ring ran dry before the end. */
  readonly underruns: number
}

/** Samples that must be there before sound starts: 160 ms, two frames of the model. Doubled where that was too few. */
export const PREFILL = 3840

/** Length of a fade in samples, 5 ms: too short to hear as one, too long to hear as a click. */
export const FADE = 120

/**
 * Samples wait here between their arrival in frames and their departure in blocks. What is played without a pause is
 * bit for bit what was pushed. When samples run short, the last ones fade out, and the next ones fade in: silence is
 * unavoidable then, a click is not.
 */
export class Ring {
  readonly #samples: Float32Array
  #read = 0
  #held = 0
  #played = 0
  #underruns = 0
  #gain = 1
  #prefill: number
  #state: 'waiting' | 'playing' | 'stopping' = 'waiting'
  #hasEnd = false
  #isStopped = false

  /**
   * @param capacity samples; the writer must not push more than there is room for
   * @param prefill samples to wait for before any is played; never so many that there would be no room for a frame more
   */
  constructor(capacity: number, prefill = PREFILL) {
    this.#samples = new Float32Array(capacity)
    this.#prefill = Math.min(prefill, capacity - PREFILL)
  }

  /** Whether everything has been played, or faded out after `stop`. */
  get isFinished(): boolean {
    return this.#hasEnd && this.#held === 0
  }

  get metrics(): RingMetrics {
    return { played: this.#played, underruns: this.#underruns }
  }

  /** Throws RangeError where there is no room: samples are never lost silently, but for those that come after `stop`. */
  push(samples: Float32Array): void {
    if (this.#isStopped) return
    const capacity = this.#samples.length
    if (samples.length > capacity - this.#held) {
      throw new RangeError(
        `the ring has room for ${capacity - this.#held} samples, not for ${samples.length}`,
      )
    }
    const start = (this.#read + this.#held) % capacity
    const before = Math.min(samples.length, capacity - start)
    this.#samples.set(samples.subarray(0, before), start)
    this.#samples.set(samples.subarray(before))
    this.#held += samples.length
  }

  /** Nothing more will come: the rest is played to its last sample. */
  end(): void {
    this.#hasEnd = true
  }

  /** Fades out and forgets what was to come, and what comes late. A second call does nothing: it must not cut the fade. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#hasEnd = true
    if (this.#state === 'playing') this.#state = 'stopping'
    else this.#held = 0
  }

  /** Fills a block of output: samples where there are any, zeros elsewhere. */
  fill(output: Float32Array): void {
    for (let i = 0; i < output.length; i++) output[i] = this.#next()
  }

  #next(): number {
    if (this.#state === 'waiting' && !this.#start()) return 0
    if (this.#held === 0) return this.#runDry()
    const sample = this.#samples[this.#read]! * this.#nextGain()
    this.#read = (this.#read + 1) % this.#samples.length
    this.#held--
    this.#played++
    if (this.#state === 'stopping' && this.#gain === 0) this.#held = 0
    return sample
  }

  #start(): boolean {
    const isReady = this.#held >= this.#prefill || (this.#hasEnd && this.#held > 0)
    if (isReady) this.#state = 'playing'
    return isReady
  }

  #runDry(): number {
    if (!this.#hasEnd) {
      this.#underruns++
      this.#gain = 0
      // On a machine that cannot keep up, few long pauses are easier to listen to than many short ones.
      this.#prefill = Math.min(2 * this.#prefill, this.#samples.length - PREFILL)
    }
    this.#state = 'waiting'
    return 0
  }

  /** Falls while the samples may be the last for now, rises when they are not. */
  #nextGain(): number {
    const isShort = this.#state === 'stopping' || (!this.#hasEnd && this.#held <= FADE)
    const gain = this.#gain + (isShort ? -1 : 1) / FADE
    // Sums of fractions miss 0 by a hair, which would keep a stopped ring from finishing.
    this.#gain = gain < 1e-6 ? 0 : Math.min(1, gain)
    return this.#gain
  }
}
