import { type AudioFrame, encodeWav } from '@pocket/tts'

/** What has been spoken so far, for saving. */
export class Recording {
  readonly #sampleRate: number
  readonly #frames: Float32Array[] = []
  #samples = 0

  /** @param sampleRate samples a second */
  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate
  }

  get samples(): number {
    return this.#samples
  }

  add({ pcm }: AudioFrame): void {
    this.#frames.push(pcm)
    this.#samples += pcm.length
  }

  /** Hands the speech to the browser as a 16-bit WAV file to download. */
  save(): void {
    const wav = new Uint8Array(encodeWav(this.#joined(), this.#sampleRate))
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([wav], { type: 'audio/wav' }))
    link.download = 'speech.wav'
    link.click()
    // The browser has its hold on the data by the next task.
    setTimeout(() => URL.revokeObjectURL(link.href))
  }

  #joined(): Float32Array {
    const joined = new Float32Array(this.#samples)
    let position = 0
    for (const frame of this.#frames) {
      joined.set(frame, position)
      position += frame.length
    }
    return joined
  }
}
