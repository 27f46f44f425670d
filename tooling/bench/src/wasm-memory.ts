/** Counts the bytes of all WebAssembly memories that this process makes from now on. They grow, and never shrink. */
export const watchWasmMemory = (): (() => number) => {
  const memories: WebAssembly.Memory[] = []
  WebAssembly.Memory = new Proxy(WebAssembly.Memory, {
    construct: (target, [descriptor]) => {
      const memory = new target(descriptor)
      memories.push(memory)
      return memory
    },
  })
  return () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)
}
