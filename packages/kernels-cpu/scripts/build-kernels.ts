import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

/**
 * Compiles `assembly/` four times. The relaxed builds may fuse multiplications with additions; the shared ones work in
 * memory that threads share, which is not to be had everywhere. The same sources and compiler give the same bytes.
 *
 * Run as a program it always builds; tests call `buildKernels({ onlyStale: true })`, which looks at content, not at
 * times: a checkout sets those at will.
 */

const root = fileURLToPath(new URL('../', import.meta.url))

const relaxed = ['--enable', 'relaxed-simd']
/** 65536 pages, all that 32-bit addresses reach: the host may give a memory that ends earlier. */
const shared = ['--enable', 'threads', '--sharedMemory', '--maximumMemory', '65536']

const builds: Record<string, { entry: string; features: string[] }> = {
  simd: { entry: 'index', features: [] },
  relaxed: { entry: 'index', features: relaxed },
  'simd-shared': { entry: 'shared', features: shared },
  'relaxed-shared': { entry: 'shared', features: [...relaxed, ...shared] },
}

const options = [
  '-O3',
  '--noAssert',
  ...['--enable', 'simd'],
  // The kernels allocate nothing: no garbage collector, no heap, and the host's memory.
  ...['--runtime', 'stub', '--importMemory', '--noExportMemory'],
  // Counts times strides mix i32 and usize, which are the same 32 bits in this memory; v128 stays inside the module.
  ...['--disableWarning', '201', '--disableWarning', '112'],
]

export const buildKernels = async ({ onlyStale = false } = {}): Promise<void> => {
  const outputs = Object.keys(builds).map((name) => `build/${name}.wasm`)
  const digest = digestOfSources()
  const isFresh =
    readIfThere('build/sources.sha256') === digest && outputs.every((path) => existsSync(root + path))
  if (onlyStale && isFresh) return
  for (const [name, { entry, features }] of Object.entries(builds)) {
    await compile(`assembly/${entry}.ts`, features, `build/${name}.wasm`)
  }
  writeInPlace('build/sources.sha256', digest)
}

const compile = async (entry: string, features: string[], output: string): Promise<void> => {
  const errors: string[] = []
  const { error } = await asc.main([entry, '--baseDir', root, '--outFile', output, ...options, ...features], {
    writeFile: (name, contents) => writeInPlace(name, contents),
    stderr: { write: (text: string | Uint8Array) => errors.push(String(text)) },
  })
  if (error || errors.length > 0) throw new Error(`${output}: ${errors.join('')}`, { cause: error })
}

/** Renamed into place, so that a test that runs at the same time reads the old file or the new one. */
const writeInPlace = (name: string, contents: string | Uint8Array): void => {
  mkdirSync(`${root}build`, { recursive: true })
  const partial = `${root}${name}.${process.pid}`
  writeFileSync(partial, contents)
  renameSync(partial, root + name)
}

const readIfThere = (name: string): string | undefined =>
  existsSync(root + name) ? readFileSync(root + name, 'utf8') : undefined

/** Of everything that decides what is built: the kernels, the compiler's version, and this file. */
const digestOfSources = (): string => {
  const hash = createHash('sha256')
  hash.update(asc.version)
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  for (const name of readdirSync(`${root}assembly`).sort()) {
    hash.update(`${name}\n`)
    hash.update(readFileSync(`${root}assembly/${name}`))
  }
  return hash.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildKernels()
