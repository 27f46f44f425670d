import type { CrewExports } from '../wasm/crew.ts'
import type { ThreadJob } from './thread.ts'

/** The script of a thread in a browser. It imports nothing, so that it is one small file wherever it ends up. */
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
