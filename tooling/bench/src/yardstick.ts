import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

/** The functions of assembly/yardstick.ts. */
export interface Yardstick {
  /** Reads as many bytes of its memory, which must be as large. */
  read(bytes: number): void
  /** Does at least as many multiplications and additions, one after the other in pairs. */
  compute(operations: number): void
  /** The same on pairs of 16-bit integers, with sums of 32 bits. */
  computeIntegers(operations: number): void
}

const pageBytes = 65536

/** With a memory of `bytes` bytes, rounded up to whole pages. */
export const createYardstick = async (level: 'simd' | 'relaxed', bytes: number): Promise<Yardstick> => {
  const memory = new WebAssembly.Memory({ initial: Math.max(1, Math.ceil(bytes / pageBytes)) })
  // Pages that were never written are all the same page of zeros.
  new Uint8Array(memory.buffer).fill(1)
  const { instance } = await WebAssembly.instantiate(await compile(level), { env: { memory } })
  const { read, compute, computeIntegers, operationsPerTurn, integerOperationsPerTurn } =
    instance.exports as {
      read(address: number, bytes: number): number
      compute(turns: number, by: number): number
      computeIntegers(turns: number, by: number): number
      operationsPerTurn: WebAssembly.Global
      integerOperationsPerTurn: WebAssembly.Global
    }
  return {
    read: (wanted) => void read(0, Math.ceil(wanted / readStep) * readStep),
    compute: (operations) => void compute(Math.ceil(operations / operationsPerTurn.value), 0.5),
    computeIntegers: (operations) =>
      void computeIntegers(Math.ceil(operations / integerOperationsPerTurn.value), 1),
  }
}

/** Eight streams of 64 bytes a turn. */
const readStep = 512

const compile = async (level: 'simd' | 'relaxed'): Promise<Uint8Array<ArrayBuffer>> => {
  let binary = new Uint8Array()
  const baseDir = fileURLToPath(new URL('../', import.meta.url))
  const features = ['--enable', 'simd', ...(level === 'relaxed' ? ['--enable', 'relaxed-simd'] : [])]
  const { error } = await asc.main(
    [
      ...['assembly/yardstick.ts', '--baseDir', baseDir, '--outFile', 'yardstick.wasm', '-O3'],
      // Nobody knows its memory but the caller. 112 warns that relaxed SIMD is not deterministic.
      ...['--runtime', 'stub', '--importMemory', '--disableWarning', '112', ...features],
    ],
    {
      writeFile: (_, contents) => {
        binary = new Uint8Array(contents as Uint8Array)
      },
    },
  )
  if (error) throw error
  return binary
}
