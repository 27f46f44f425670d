/** Collects samples that come in pieces of any length, and gives them on in whole frames. */
export class SampleBuffer {
  readonly #frameSize: number
  #rest = new Float32Array(0)

  constructor(frameSize: number) {
    this.#frameSize = frameSize
  }

  /** Adds `samples`; takes out the frames that are whole now, end to end. */
  push(samples: Float32Array): Float32Array {
    const joined = new Float32Array(this.#rest.length + samples.length)
    joined.set(this.#rest)
    joined.set(samples, this.#rest.length)
    const whole = joined.length - (joined.length % this.#frameSize)
    this.#rest = joined.slice(whole)
    return joined.subarray(0, whole)
  }

  /** Takes out what is left, padded with zeros to a frame; nothing when nothing is left. */
  flush(): Float32Array {
    const rest = padToFrames(this.#rest, this.#frameSize)
    this.clear()
    return rest
  }

  clear(): void {
    this.#rest = new Float32Array(0)
  }
}

/** A copy of `samples` with zeros after them, up to a whole number of frames. */
export const padToFrames = (samples: Float32Array, frameSize: number): Float32Array => {
  const padded = new Float32Array(Math.ceil(samples.length / frameSize) * frameSize)
  padded.set(samples)
  return padded
}
