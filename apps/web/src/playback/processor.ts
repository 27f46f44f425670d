/// <reference path="./audio-worklet.d.ts" />
import { type PlaybackCommand, type PlaybackReport, RING_CAPACITY } from './protocol.ts'
import { Ring } from './ring.ts'

/** Blocks of 128 samples between reports: 10 of them are 53 ms. */
const blocksPerReport = 10

/** The audio thread's side: plays one utterance after the other out of a ring. */
class PlaybackProcessor extends AudioWorkletProcessor {
  #ring = new Ring(RING_CAPACITY)
  /** 0 while nothing is to be played. */
  #id = 0
  #blocks = 0
  #hasSounded = false

  constructor() {
    super()
    this.port.onmessage = ({ data }: MessageEvent<PlaybackCommand>) => this.#handle(data)
  }

  process(_inputs: Float32Array[][], [output]: Float32Array[][]): boolean {
    const [first, ...others] = output ?? []
    if (!first || this.#id === 0) return true
    this.#ring.fill(first)
    for (const channel of others) channel.set(first)
    this.#reportWhenDue()
    return true
  }

  #handle(message: PlaybackCommand): void {
    if (message.command === 'begin') {
      this.#ring = new Ring(RING_CAPACITY, message.prefill)
      this.#id = message.id
      this.#hasSounded = false
    } else if (message.id === this.#id) {
      if (message.command === 'push') this.#ring.push(message.samples)
      else if (message.command === 'end') this.#ring.end()
      else this.#ring.stop()
    }
  }

  #reportWhenDue(): void {
    const { isFinished, metrics } = this.#ring
    const isFirst = !this.#hasSounded && metrics.played > 0
    if (++this.#blocks % blocksPerReport !== 0 && !isFirst && !isFinished) return
    this.#hasSounded ||= isFirst
    this.port.postMessage({ id: this.#id, isFinished, ...metrics } satisfies PlaybackReport)
    if (isFinished) this.#id = 0
  }
}

registerProcessor('pocket-playback', PlaybackProcessor)
