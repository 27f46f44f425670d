import processorUrl from './processor.ts?worker&url'
import { type PlaybackCommand, type PlaybackReport, RING_CAPACITY } from './protocol.ts'
import { PREFILL, type RingMetrics } from './ring.ts'

/** Samples that may arrive at any speed and are played without a gap. */
export interface Playback {
  push(samples: Float32Array): void
  /** Nothing more will come. */
  end(): void
  /** Fades out within 5 ms; `finished` then resolves. */
  stop(): void
  /** Resolves when the last sample has been played. */
  readonly finished: Promise<void>
}

/**
 * Sound through an AudioWorklet. The page keeps what the worklet's ring has no room for, and sends more as it drains;
 * messages carry the samples, so that no cross-origin isolation is needed.
 */
export class Player {
  readonly #context: AudioContext
  readonly #node: AudioWorkletNode
  readonly #prefill: number
  #lastId = 0
  #current: Playback | undefined

  /**
   * Call it while the user acts, or the browser may keep silent.
   *
   * @param prefillSeconds speech that must have arrived before any is heard; usually 0.16
   */
  static async open(sampleRate: number, prefillSeconds?: number): Promise<Player> {
    // The browser resamples for the sound card; the samples stay what the model made.
    const context = new AudioContext({ sampleRate })
    await context.audioWorklet.addModule(processorUrl)
    return new Player(context, prefillSeconds === undefined ? PREFILL : prefillSeconds * sampleRate)
  }

  private constructor(context: AudioContext, prefill: number) {
    this.#context = context
    this.#prefill = prefill
    this.#node = new AudioWorkletNode(context, 'pocket-playback', {
      numberOfInputs: 0,
      outputChannelCount: [1],
    })
    this.#node.connect(context.destination)
  }

  /** Whatever was playing fades out first. `onMetrics` is called about 20 times a second. */
  async begin(onMetrics: (metrics: RingMetrics) => void): Promise<Playback> {
    await this.#context.resume()
    // Another may begin during the wait: the last one called is the one that plays.
    for (let previous = this.#current; previous; previous = this.#current) {
      previous.stop()
      await previous.finished
      if (this.#current === previous) this.#current = undefined
    }
    const playback = this.#start(++this.#lastId, onMetrics)
    this.#current = playback
    return playback
  }

  #start(id: number, onMetrics: (metrics: RingMetrics) => void): Playback {
    const { port } = this.#node
    const send = (command: PlaybackCommand) => port.postMessage(command)
    const queue: Float32Array[] = []
    let sent = 0
    let played = 0
    let hasEnd = false
    const forward = () => {
      while (queue[0] && sent - played + queue[0].length <= RING_CAPACITY) {
        const samples = queue.shift()!
        send({ command: 'push', id, samples })
        sent += samples.length
      }
      if (hasEnd && queue.length === 0) send({ command: 'end', id })
    }
    const finished = new Promise<void>((resolve) => {
      port.onmessage = ({ data }: MessageEvent<PlaybackReport>) => {
        if (data.id !== id) return
        played = data.played
        onMetrics(data)
        if (data.isFinished) resolve()
        else forward()
      }
    })
    send({ command: 'begin', id, prefill: this.#prefill })
    return {
      finished,
      push(samples) {
        queue.push(samples)
        forward()
      },
      end() {
        hasEnd = true
        forward()
      },
      stop() {
        queue.length = 0
        send({ command: 'stop', id })
      },
    }
  }
}
