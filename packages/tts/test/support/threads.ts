import process from 'node:process'
import type { Worker } from 'node:worker_threads'

/** What was posted to a thread: commands, as they were before they were copied or moved. */
export interface SeenThread {
  readonly thread: Worker
  readonly posted: { command: string }[]
  /** Settles when the thread has ended. */
  readonly ended: Promise<void>
}

/** Runs `start`, and gives what it made together with the threads that it started. */
export const withThreads = async <Value>(
  start: () => Promise<Value>,
): Promise<{ value: Value; threads: SeenThread[] }> => {
  const threads: SeenThread[] = []
  const watch = (thread: Worker): void => {
    const posted: { command: string }[] = []
    const post = thread.postMessage.bind(thread)
    thread.postMessage = (message, transfer) => {
      posted.push(message)
      post(message, transfer as ArrayBuffer[])
    }
    threads.push({ thread, posted, ended: new Promise((resolve) => thread.once('exit', () => resolve())) })
  }
  process.on('worker', watch)
  try {
    return { value: await start(), threads }
  } finally {
    process.off('worker', watch)
  }
}
