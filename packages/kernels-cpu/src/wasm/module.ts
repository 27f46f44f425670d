import { KernelError } from '@pocket/nn'
import { WasmKernels } from './kernels.ts'
import type { SimdLevel } from './probe.ts'
import { Runtime } from './runtime.ts'
import { selfTest } from './self-test.ts'

/** The levels that there are builds of. */
export type WasmLevel = Exclude<SimdLevel, 'scalar'>

/** Whether a build works in memory of its own, or in memory that threads share. */
export type Sharing = 'single' | 'shared'

const modules = new Map<string, Promise<WebAssembly.Module>>()

/** A build, compiled and tested once for all executors. Throws KernelError `self-test` where it computes wrong numbers. */
export const kernelModule = (level: WasmLevel, sharing: Sharing = 'single'): Promise<WebAssembly.Module> => {
  const key = `${level}, ${sharing}`
  const known = modules.get(key)
  if (known) return known
  const module = compileTested(level, sharing)
  modules.set(key, module)
  // Memory that could not be had may be there the next time; a processor that computes wrongly goes on to.
  module.catch((error: unknown) => {
    if (!(error instanceof KernelError && error.code === 'self-test')) modules.delete(key)
  })
  return module
}

export const kernelName = (level: WasmLevel): string => `wasm-${level}`

/** Decoded by hand: a page's content-security policy may forbid `fetch` of data URLs. */
export const kernelBytes = async (
  level: WasmLevel,
  sharing: Sharing = 'single',
): Promise<Uint8Array<ArrayBuffer>> => {
  // Loaded when they are needed: most executors use one of the four.
  const builds =
    sharing === 'single' ? await import('./single-builds.ts') : await import('./shared-builds.ts')
  const dataUrl = builds[level]
  const base64 = dataUrl.slice(dataUrl.indexOf(',') + 1)
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

const compileTested = async (level: WasmLevel, sharing: Sharing): Promise<WebAssembly.Module> => {
  const module = await WebAssembly.compile(await kernelBytes(level, sharing))
  const runtime = await (sharing === 'single' ? Runtime.create(module) : Runtime.createShared(module, 1))
  await selfTest(new WasmKernels(kernelName(level), runtime))
  return module
}
