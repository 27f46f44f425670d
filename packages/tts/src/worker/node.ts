import process from 'node:process'
import { Worker } from 'node:worker_threads'
import type { WorkerPlatform } from './link.ts'
import { linkTo } from './node-link.ts'

/** Node, Bun and Deno: a thread. It has the working directory of its caller. */
export const worker: WorkerPlatform = {
  startWorker: (listener) =>
    linkTo(
      new Worker(new URL('./node-entry.js', import.meta.url), { name: 'pocket-tts', ...options() }),
      listener,
    ),
  pathForWorker: (path) => path,
}

/** A thread takes over the options of its process, and fails with the one that a program given as text may need. */
const options = (): { execArgv?: string[] } =>
  process.execArgv.some((option) => option.startsWith('--input-type')) ? { execArgv: [] } : {}
