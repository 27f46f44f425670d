/// <reference path="./wasm-inline.d.ts" />
import { KernelError, type Kernels } from '@pocket/nn'
import relaxed from '../../build/relaxed.wasm?inline'
import simd from '../../build/simd.wasm?inline'
import { WasmKernels } from './kernels.ts'
import { probeSimd, type SimdLevel } from './probe.ts'
import { selfTest } from './self-test.ts'

/** The builds of the kernels. */
export type WasmLevel = Exclude<SimdLevel, 'scalar'>

const builds: Record<WasmLevel, string> = { relaxed, simd }
const modules = new Map<WasmLevel, Promise<WebAssembly.Module>>()

/**
 * An executor with memory of its own. A build is compiled and tested once, for all executors. Throws KernelError
 * `unavailable` where the engine does not know the level's instructions, `self-test` where they compute wrong numbers.
 */
export const createWasmKernels = async (level: WasmLevel): Promise<Kernels> => {
  if (level === 'relaxed' ? probeSimd() !== 'relaxed' : probeSimd() === 'scalar') {
    throw new KernelError(
      'unavailable',
      `simd: '${level}' asked for, but this JavaScript engine has '${probeSimd()}' at best; use 'auto'`,
    )
  }
  let module = modules.get(level)
  if (!module) {
    module = compileTested(level)
    modules.set(level, module)
  }
  return new WasmKernels(nameOf(level), await module)
}

const compileTested = async (level: WasmLevel): Promise<WebAssembly.Module> => {
  const module = await WebAssembly.compile(bytesOf(builds[level]))
  await selfTest(new WasmKernels(nameOf(level), module))
  return module
}

const nameOf = (level: WasmLevel): string => `wasm-${level}`

/** Decoded by hand: a page's content-security policy may forbid `fetch` of data URLs. */
const bytesOf = (dataUrl: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(dataUrl.slice(dataUrl.indexOf(',') + 1)), (character) => character.charCodeAt(0))
