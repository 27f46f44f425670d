import { nextTurn } from '@pocket/nn'

/** Work may keep the event loop waiting for this long: a screen's frame, and well below one of audio. */
const longestStretchMs = 16

/** Lets timers, events and aborts through while a long run of frames goes on. */
export class EventLoopTurns {
  #since = performance.now()

  /** Waits one turn of the event loop, if the last was long ago. */
  async take(): Promise<void> {
    if (performance.now() - this.#since < longestStretchMs) return
    await nextTurn()
    this.#since = performance.now()
  }
}
