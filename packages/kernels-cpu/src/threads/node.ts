import { Worker } from 'node:worker_threads'
import type { ThreadPlatform } from './thread.ts'

/** As text, for a program that was bundled into one file has no other to start a thread from. */
const script = `
const { parentPort, workerData: { module, memory, crew, thread } } = require('node:worker_threads')
const kernels = new WebAssembly.Instance(module, { env: { memory } }).exports
parentPort.postMessage('ready')
try {
  kernels.serve(crew, thread)
} catch (error) {
  kernels.fail(crew)
  throw error
}
`

/** Node, Bun and Deno. */
export const threads: ThreadPlatform = {
  obstacle: () => undefined,
  startThread(job, { onReady, onLost }) {
    const thread = new Worker(script, {
      eval: true,
      name: 'pocket-kernels',
      workerData: job,
      // Of its process's options it needs none, and some of them make a script given as text fail.
      execArgv: [],
    })
    thread.once('message', () => {
      thread.unref()
      onReady()
    })
    thread.on('error', onLost)
    thread.on('exit', (code) => onLost(new Error(`it ended with exit code ${code}`)))
    return { terminate: () => void thread.terminate() }
  },
}
