import { memoryUsage } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes in use after everything that nobody holds has been collected. */
export interface MemoryReading {
  /** Of JavaScript, with the buffers it holds. */
  readonly heap: number
  /** Of WebAssembly memories made since the watch began. They grow, and never shrink. */
  readonly wasm: number
}

/**
 * Watches what this process holds, which is nothing but this file's tests. It has to begin before the memories to be
 * watched are made.
 */
export const watchMemory = (): (() => MemoryReading) => {
  const memories: WebAssembly.Memory[] = []
  WebAssembly.Memory = new Proxy(WebAssembly.Memory, {
    construct: (target, [descriptor]) => {
      const memory = new target(descriptor)
      memories.push(memory)
      return memory
    },
  })
  // What `node --expose-gc` would give.
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  return () => {
    // Twice: what the first pass finalises holds more until the second.
    collect()
    collect()
    const wasm = memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)
    const { heapUsed, arrayBuffers } = memoryUsage()
    // WebAssembly memories are not among these buffers.
    return { heap: heapUsed + arrayBuffers, wasm }
  }
}
