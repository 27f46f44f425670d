/**
 * Waits for one turn of the event loop, so that timers, input and aborts get through between frames. A promise alone
 * would not: its callbacks run before the loop turns.
 */
export const nextTurn = (): Promise<void> =>
  typeof setImmediate === 'function' ? new Promise((resolve) => setImmediate(resolve)) : nextMessage()

/** Timers of browsers wait at least 4 ms when nested, and a second in hidden pages; messages do not. */
const nextMessage = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
