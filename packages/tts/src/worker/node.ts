import { Worker } from 'node:worker_threads'
import type { WorkerPlatform } from './link.ts'
import { linkTo } from './node-link.ts'

/** Node, Bun and Deno: a thread. It has the working directory of its caller. */
export const worker: WorkerPlatform = {
  startWorker: (listener) =>
    linkTo(new Worker(new URL('./node-entry.js', import.meta.url), { name: 'pocket-tts' }), listener),
  pathForWorker: (path) => path,
}
