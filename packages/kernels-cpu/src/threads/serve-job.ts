import type { CrewExports } from '../wasm/crew.ts'
import type { ThreadJob } from './thread.ts'

/** Makes the worker of a page that calls it a thread of the kernels, from the first message that it gets. */
export const serveJob = (): void => {
  addEventListener('message', ({ data }: MessageEvent<ThreadJob>) => {
    const { module, memory, crew, thread } = data
    const { exports } = new WebAssembly.Instance(module, { env: { memory } })
    const kernels = exports as unknown as CrewExports
    postMessage('ready')
    try {
      kernels.serve(crew, thread)
    } catch (error) {
      kernels.fail(crew)
      throw error
    }
  })
}
