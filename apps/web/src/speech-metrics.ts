/** How fast one utterance is made and heard. Create it when speech is asked for. */
export class SpeechMetrics {
  readonly #sampleRate: number
  readonly #asked = performance.now()
  #began = 0
  #frames = 0
  #samples = 0
  /** Milliseconds from the beginning of the work to the latest frame. */
  #worked = 0
  #firstAudio: number | undefined
  #underruns = 0

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate
  }

  /** Milliseconds of work a frame of 80 ms took, reading the text included. */
  get frameMs(): number | undefined {
    return this.#frames === 0 ? undefined : this.#worked / this.#frames
  }

  /** Time of work by time of speech: below 1 is faster than real time. */
  get realTimeFactor(): number | undefined {
    return this.#samples === 0 ? undefined : this.#worked / ((1000 * this.#samples) / this.#sampleRate)
  }

  /** Milliseconds from asking to hearing. */
  get firstAudioMs(): number | undefined {
    return this.#firstAudio
  }

  /** Pauses because frames came too late. */
  get underruns(): number {
    return this.#underruns
  }

  noteWorkBegins(): void {
    this.#began = performance.now()
  }

  noteFrame(samples: number): void {
    this.#samples += samples
    if (samples > 0) this.#frames++
    this.#worked = performance.now() - this.#began
  }

  notePlayback(played: number, underruns: number): void {
    if (played > 0) this.#firstAudio ??= performance.now() - this.#asked
    this.#underruns = underruns
  }
}
