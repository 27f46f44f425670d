import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

/**
 * Compiles `assembly/` to `build/simd.wasm` and `build/relaxed.wasm`, the same sources twice: the relaxed build may
 * fuse multiplications with additions. The same sources and compiler give the same bytes.
 *
 * Run as a program it always builds; tests call `buildKernels({ onlyStale: true })`.
 */

const root = fileURLToPath(new URL('../', import.meta.url))

const builds = {
  simd: ['--enable', 'simd'],
  relaxed: ['--enable', 'simd', '--enable', 'relaxed-simd'],
}

const options = [
  '-O3',
  '--noAssert',
  // The kernels allocate nothing: no garbage collector, no heap, and the host's memory.
  ...['--runtime', 'stub', '--importMemory', '--noExportMemory'],
  // Counts times strides mix i32 and usize, which are the same 32 bits in this memory; v128 stays inside the module.
  ...['--disableWarning', '201', '--disableWarning', '112'],
]

export const buildKernels = async ({ onlyStale = false } = {}): Promise<void> => {
  for (const [name, features] of Object.entries(builds)) {
    if (onlyStale && isFresh(`build/${name}.wasm`)) continue
    await compile([...features], `build/${name}.wasm`)
  }
}

const compile = async (features: string[], output: string): Promise<void> => {
  const errors: string[] = []
  const { error } = await asc.main(
    ['assembly/index.ts', '--baseDir', root, '--outFile', output, ...options, ...features],
    {
      writeFile: (name, contents) => {
        // Renamed into place, so that a test that runs at the same time reads the old file or the new one.
        mkdirSync(`${root}build`, { recursive: true })
        const partial = `${root}${name}.${process.pid}`
        writeFileSync(partial, contents)
        renameSync(partial, `${root}${name}`)
      },
      stderr: { write: (text: string | Uint8Array) => errors.push(String(text)) },
    },
  )
  if (error || errors.length > 0) throw new Error(`${output}: ${errors.join('')}`, { cause: error })
}

const isFresh = (output: string): boolean => {
  const built = statSync(root + output, { throwIfNoEntry: false })
  if (!built) return false
  const sources = readdirSync(`${root}assembly`).map((name) => `${root}assembly/${name}`)
  return [...sources, fileURLToPath(import.meta.url)].every((path) => statSync(path).mtimeMs <= built.mtimeMs)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildKernels()
