import type { Worker } from 'node:worker_threads'
import type { WorkerLink, WorkerListener } from './link.ts'

/** The line to a thread of Node. */
export const linkTo = (thread: Worker, { onReport, onLost }: WorkerListener): WorkerLink => {
  thread.on('message', onReport)
  thread.on('messageerror', onLost)
  thread.on('error', onLost)
  thread.on('exit', (code) => onLost(new Error(`it ended with exit code ${code}`)))
  return {
    post: (command, transfer) => thread.postMessage(command, transfer),
    setAwaited: (isAwaited) => (isAwaited ? thread.ref() : thread.unref()),
    terminate: () => void thread.terminate(),
  }
}
