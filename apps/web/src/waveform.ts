/** Samples that one column of the drawing stands for: 20 ms at 24 kHz. */
const columnSamples = 480

/** Frames that a drawing shows at least, so that short speech is not stretched: 2 s. */
const leastColumns = 100

/** Draws speech as it is made, and how far it has been heard. Colours come from the style sheet. */
export class Waveform {
  readonly #canvas: HTMLCanvasElement
  /** The loudest sample of each column. */
  #peaks: number[] = []
  #inColumn = 0
  #played = 0
  #isDue = false

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas
    new ResizeObserver(() => this.#schedule()).observe(canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#schedule())
  }

  clear(): void {
    this.#peaks = []
    this.#inColumn = 0
    this.#played = 0
    this.#schedule()
  }

  add(samples: Float32Array): void {
    for (const sample of samples) {
      if (this.#inColumn === 0) this.#peaks.push(0)
      const last = this.#peaks.length - 1
      this.#peaks[last] = Math.max(this.#peaks[last]!, Math.abs(sample))
      this.#inColumn = (this.#inColumn + 1) % columnSamples
    }
    this.#schedule()
  }

  setPlayed(samples: number): void {
    this.#played = samples
    this.#schedule()
  }

  /** Once a screen refresh, however much arrives. */
  #schedule(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      this.#draw()
    })
  }

  #draw(): void {
    const canvas = this.#canvas
    const scale = devicePixelRatio
    const { clientWidth: width, clientHeight: height } = canvas
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
    const context = canvas.getContext('2d')
    if (!context) return
    context.scale(scale, scale)
    const style = getComputedStyle(canvas)
    const [played, waiting] = [style.color, style.getPropertyValue('--waiting')]
    const bars = Math.max(1, Math.floor(width / 4))
    const columns = Math.max(leastColumns, this.#peaks.length)
    for (let bar = 0; bar < bars; bar++) {
      const first = Math.floor((bar * columns) / bars)
      const next = Math.max(first + 1, Math.floor(((bar + 1) * columns) / bars))
      const peak = Math.min(1, Math.max(0, ...this.#peaks.slice(first, next)))
      // Loudness as it is heard: speech spends most of its time below a tenth of full scale.
      const length = Math.max(2, Math.sqrt(peak) * height)
      context.fillStyle = first * columnSamples < this.#played ? played : waiting
      context.beginPath()
      context.roundRect(bar * 4 + 0.5, (height - length) / 2, 3, length, 1.5)
      context.fill()
    }
  }
}
