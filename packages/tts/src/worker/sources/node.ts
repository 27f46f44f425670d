import { Worker } from 'node:worker_threads'
import type { WorkerPlatform } from '../link.ts'
import { linkTo } from '../node-link.ts'

/** Node running the sources of this package, as its tests do: the thread is told to take those of its siblings too. */
export const worker: WorkerPlatform = {
  startWorker: (listener) =>
    linkTo(
      new Worker(new URL('./node-entry.ts', import.meta.url), {
        name: 'pocket-tts',
        execArgv: ['--conditions=@pocket/source'],
      }),
      listener,
    ),
  pathForWorker: (path) => path,
}
