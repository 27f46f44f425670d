import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const page = 65536

/** Reads a memory of `bytes` bytes from end to end: the yardstick of products that read every weight once. */
export const readStream = async (bytes: number): Promise<() => void> => {
  let binary = new Uint8Array()
  const baseDir = fileURLToPath(new URL('.', import.meta.url))
  const { error } = await asc.main(
    [
      ...['assembly/read.ts', '--baseDir', baseDir, '--outFile', 'read.wasm', '-O3', '--runtime', 'stub'],
      ...['--importMemory', '--enable', 'simd', '--disableWarning', '112'],
    ],
    {
      writeFile: (_, contents) => {
        binary = new Uint8Array(contents as Uint8Array)
      },
    },
  )
  if (error) throw error
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / page) })
  // Pages that were never written are all the same page of zeros.
  new Uint8Array(memory.buffer).fill(1)
  const { instance } = await WebAssembly.instantiate(binary, { env: { memory } })
  const { sum } = instance.exports as { sum: (address: number, bytes: number) => number }
  return () => sum(0, bytes)
}
